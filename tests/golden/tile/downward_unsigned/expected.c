void kernel(unsigned n, double *y, const double *x, double a);

void kernel(unsigned n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Tile(tsize=8, tindex='ii')
  ) @*/
  for (unsigned ii = n; ii > 0; ii = ii > 8 ? ii - 8 : 0)
    for (unsigned i = ii; i > (ii < 8 ? 0 : ii - 8); i--)
      y[i - 1] = a * x[i - 1];
  /*@ end @*/
}
