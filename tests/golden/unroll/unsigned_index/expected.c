void kernel(unsigned first, unsigned n, double *y, const double *x, double a);

void kernel(unsigned first, unsigned n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Unroll(ufactor=4)
  ) @*/
  {
    unsigned i;
    for (i = first; n > first && n - first > 3 && i < n - 3; i += 4) {
      y[i] = a * x[i];
      y[i + 1] = a * x[i + 1];
      y[i + 2] = a * x[i + 2];
      y[i + 3] = a * x[i + 3];
    }
    for (; i < n; i++)
      y[i] = a * x[i];
  }
  /*@ end @*/
}
