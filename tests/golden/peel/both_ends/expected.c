int kernel(int n, double *y, const double *x, double a);

int kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Peel(first=F, last=L)
  ) @*/
  if (n - 1 >= 1) {
    y[0] = y[0] + a * x[0];
    for (i = 1; i < n - 1; i++)
      y[i] = y[i] + a * x[i];
    y[n - 1] = y[n - 1] + a * x[n - 1];
    i = n;
  } else
    for (i = 0; i <= n - 1; i++)
      y[i] = y[i] + a * x[i];
  /*@ end @*/
  return i;
}
