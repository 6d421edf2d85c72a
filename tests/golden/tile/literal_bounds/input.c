void kernel(double *y, const double *x, double a);

void kernel(double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=16, tindex='ii')
  ) @*/
  for (i = 0; i < 64; i++)
    y[i] = a * x[i];
  /*@ end @*/
}
