void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Fuse(depth=2)
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++) {
      a[i][j] = b[i][j] + c[i][j];
      b[i][j] = a[i][j] * a[i][j];
    }
  /*@ end @*/
}
