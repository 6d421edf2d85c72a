void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x);

void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=2)
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    y[i] = 0;
    y[i + 1] = 0;
    for (j = 0; j <= i; j++) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
    }
    for (j = i + 1; j <= i + 1; j++)
      y[i + 1] += a[i + 1][j] * x[j]; // the lower triangle
  }
  for (; i < n; i++) {
    y[i] = 0;
    for (j = 0; j <= i; j++)
      y[i] += a[i][j] * x[j]; // the lower triangle
  }
  /*@ end @*/
}
