void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]);

void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform ScalarReplace(prefix='t')
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
