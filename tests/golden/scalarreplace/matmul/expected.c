void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]);

void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform ScalarReplace(prefix='t')
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      double t1 = c[i][j];
      for (k = 0; k < n; k++)
        t1 += a[i][k] * b[k][j];
      c[i][j] = t1;
    }
  /*@ end @*/
}
