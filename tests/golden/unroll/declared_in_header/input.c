void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Unroll(ufactor=3)
  ) @*/
  for (int i = 0; i < n; i += 2) {
    /* kept once */
    double t = x[i] / 2.0;
    y[i] += a * t;
  }
  /*@ end @*/
}
