void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Interchange(first='j', second='k')
  ) @*/
  for (i = 0; i < n; i++)
    for (k = 0; k < n; k++)
      for (j = 0; j < n; j++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
