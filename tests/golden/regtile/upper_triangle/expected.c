void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x);

void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i', 'j'], ufactors=[2, 2])
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    for (j = i; j < i + 1; j++)
      y[i] += a[i][j] * x[j];
    for (j = i + 1; n > i + 1 && n - (i + 1) > 1 && j < n - 1; j += 2) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
      y[i] += a[i][j + 1] * x[j + 1];
      y[i + 1] += a[i + 1][j + 1] * x[j + 1];
    }
    for (; j < n; j++) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
    }
  }
  for (; i < n; i++) {
    for (j = i; n > i && n - i > 1 && j < n - 1; j += 2) {
      y[i] += a[i][j] * x[j];
      y[i] += a[i][j + 1] * x[j + 1];
    }
    for (; j < n; j++)
      y[i] += a[i][j] * x[j];
  }
  /*@ end @*/
}
