void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Distribute(groups=[[0, 2], [1]])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j += 2) {
      a[i][j] = 1;
      b[i][j] = 2;
      c[i][j] = a[i][j];
    }
  /*@ end @*/
}
