void kernel(int n, double y[restrict n], double a[restrict n][n], double x[restrict n]);

void kernel(int n, double y[restrict n], double a[restrict n][n], double x[restrict n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      regtile = (['i', 'j'], [2, 3]),
      boundreplace = (True, 'first_', 'end_')
    )
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    const int first_1 = i + 1;
    const int end_1 = i + 2;
    for (j = first_1; j < end_1; j++)
      y[i] += a[i][j] * x[j];
    for (j = i + 2; n > i + 2 && n - (i + 2) > 2 && j < n - 2; j += 3) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
      y[i] += a[i][j + 1] * x[j + 1];
      y[i + 1] += a[i + 1][j + 1] * x[j + 1];
      y[i] += a[i][j + 2] * x[j + 2];
      y[i + 1] += a[i + 1][j + 2] * x[j + 2];
    }
    for (; j < n; j++) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
    }
  }
  for (; i < n; i++) {
    for (j = i + 1; n > i + 1 && n - (i + 1) > 2 && j < n - 2; j += 3) {
      y[i] += a[i][j] * x[j];
      y[i] += a[i][j + 1] * x[j + 1];
      y[i] += a[i][j + 2] * x[j + 2];
    }
    for (; j < n; j++)
      y[i] += a[i][j] * x[j];
  }
  /*@ end @*/
}
