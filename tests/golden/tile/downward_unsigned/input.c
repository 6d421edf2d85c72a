void kernel(unsigned n, double *y, const double *x, double a);

void kernel(unsigned n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Tile(tsize=8, tindex='ii')
  ) @*/
  for (unsigned i = n; i > 0; i--)
    y[i - 1] = a * x[i - 1];
  /*@ end @*/
}
