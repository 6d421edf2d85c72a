void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Unroll(ufactor=3)
  ) @*/
  {
    int i;
    for (i = 0; n > 4 && i < n - 4; i += 6) {
      {
        /* kept once */
        double t = x[i] / 2.0;
        y[i] += a * t;
      }
      {
        double t = x[i + 2] / 2.0;
        y[i + 2] += a * t;
      }
      {
        double t = x[i + 4] / 2.0;
        y[i + 4] += a * t;
      }
    }
    for (; i < n; i += 2) {
      /* kept once */
      double t = x[i] / 2.0;
      y[i] += a * t;
    }
  }
  /*@ end @*/
}
