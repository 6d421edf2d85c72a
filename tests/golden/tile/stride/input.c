void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  /*@ begin Loop(
    transform Tile(tsize=12, tindex='ii')
  ) @*/
  for (int i = 1; i < n; i += 3)
    y[i] = a * x[i];
  /*@ end @*/
}
