void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Peel(first=2)
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = y[i] + a * x[i]; /* axpy */
  /*@ end @*/
}
