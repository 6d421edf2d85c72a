void smooth(unsigned n, double *restrict y, const double *restrict x);

void smooth(unsigned n, double *restrict y, const double *restrict x) {
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  if (n > 1) {
    const double scv_1 = x[0];
    for (unsigned i = n; i > 1; i -= 2) {
      /* weighted by itself */
      const double scv_2 = x[i - 1];
      const double scv_4 = x[i];
      double scv_3 = scv_4 * scv_4 + scv_2;
      scv_3 *= scv_1;
      y[i] = scv_3;
      y[i - 1] = scv_2;
    }
  }
  /*@ end @*/
}
