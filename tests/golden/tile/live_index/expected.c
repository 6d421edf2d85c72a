int kernel(int start, int n, double *y, const double *x, double a);

int kernel(int start, int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=12, tindex='ii')
  ) @*/
  for (int ii = start; ii < n; ii += 12)
    for (i = ii; i < (n - ii < 12 ? n : ii + 12); i += 3)
      y[i] = a * x[i];
  i = start < n ? n - (n - start - 1) % 3 + 2 : start;
  /*@ end @*/
  return i;
}
