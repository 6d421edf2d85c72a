void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=8, tindex='ii')
  ) @*/
  for (i = n - 1; i >= 0; i -= 2)
    y[i] = a * x[i];
  /*@ end @*/
}
