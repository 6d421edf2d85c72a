void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i, j;
  /*@ begin Loop(
    transform Unroll(ufactor=2)
    for (j = 0; j < n; j++)
      transform Unroll(ufactor=3)
      for (i = 0; i < n; i++)
        y[i] = y[i] + a * x[j];
  ) @*/
  for (j = 0; n > 1 && j < n - 1; j += 2) {
    for (i = 0; n > 2 && i < n - 2; i += 3) {
      y[i] = y[i] + a * x[j];
      y[i + 1] = y[i + 1] + a * x[j];
      y[i + 2] = y[i + 2] + a * x[j];
    }
    for (; i < n; i++)
      y[i] = y[i] + a * x[j];
    for (i = 0; n > 2 && i < n - 2; i += 3) {
      y[i] = y[i] + a * x[j + 1];
      y[i + 1] = y[i + 1] + a * x[j + 1];
      y[i + 2] = y[i + 2] + a * x[j + 1];
    }
    for (; i < n; i++)
      y[i] = y[i] + a * x[j + 1];
  }
  for (; j < n; j++) {
    for (i = 0; n > 2 && i < n - 2; i += 3) {
      y[i] = y[i] + a * x[j];
      y[i + 1] = y[i + 1] + a * x[j];
      y[i + 2] = y[i + 2] + a * x[j];
    }
    for (; i < n; i++)
      y[i] = y[i] + a * x[j];
  }
  /*@ end @*/
}
