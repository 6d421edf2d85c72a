void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=2)
  ) @*/
  for (i = n - 1; i >= 0; i--)
    y[i] = y[i] + 7 / 2 * 1.0 * a * x[i];
  /*@ end @*/
}
