void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x);

void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=UF)
  ) @*/
  for (i = 0; n - 1 >= 3 && i <= n - 4; i += 4) {
    for (j = 0; j <= n - 1; j++) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
      y[i + 2] += a[i + 2][j] * x[j];
      y[i + 3] += a[i + 3][j] * x[j];
    }
  }
  for (; i <= n - 1; i++)
    for (j = 0; j <= n - 1; j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
