void kernel(unsigned first, unsigned n, double *y, const double *x, double a);

void kernel(unsigned first, unsigned n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Unroll(ufactor=4)
  ) @*/
  for (unsigned i = first; i < n; i++)
    y[i] = a * x[i];
  /*@ end @*/
}
