void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Peel(first=2)
  ) @*/
  if (n > 1) {
    y[0] = y[0] + a * x[0];
    y[1] = y[1] + a * x[1];
    for (i = 2; i < n; i++)
      y[i] = y[i] + a * x[i];
  } else
    for (i = 0; i < n; i++)
      y[i] = y[i] + a * x[i]; /* axpy */
  /*@ end @*/
}
