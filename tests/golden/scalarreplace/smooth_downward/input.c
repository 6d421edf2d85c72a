void smooth(unsigned n, double *restrict y, const double *restrict x);

void smooth(unsigned n, double *restrict y, const double *restrict x) {
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  for (unsigned i = n; i > 1; i -= 2) {
    /* weighted by itself */
    y[i] = x[i] * x[i] + x[i - 1];
    y[i] *= x[0];
    y[i - 1] = x[i - 1];
  }
  /*@ end @*/
}
