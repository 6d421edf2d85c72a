int kernel(int start, int n, double *y, const double *x, double a);

int kernel(int start, int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=12, tindex='ii')
  ) @*/
  for (i = start; i < n; i += 3)
    y[i] = a * x[i];
  /*@ end @*/
  return i;
}
