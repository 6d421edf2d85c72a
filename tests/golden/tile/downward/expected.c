void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=8, tindex='ii')
  ) @*/
  for (int ii = n - 1; ii >= 0; ii -= 8)
    for (i = ii; i >= (ii < 8 ? 0 : ii - 6); i -= 2)
      y[i] = a * x[i];
  /*@ end @*/
}
