void kernel(double *y, const double *x, double a);

void kernel(double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=16, tindex='ii')
  ) @*/
  for (int ii = 0; ii < 64; ii += 16)
    for (i = ii; i < ii + 16; i++)
      y[i] = a * x[i];
  /*@ end @*/
}
