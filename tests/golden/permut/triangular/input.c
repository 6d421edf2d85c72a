void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
