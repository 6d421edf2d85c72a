void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Tile(tsize=12, tindex='ii')
  ) @*/
  for (int ii = 1; ii < n; ii += 12)
    for (int i = ii; i < (n - ii < 12 ? n : ii + 12); i += 3)
      y[i] = a * x[i];
  /*@ end @*/
}
