void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Tile(tsize=T, tindex='ii')
  ) @*/
  for (int ii = 0; ii <= n - 1; ii += 32)
    for (i = ii; i <= (n - 1 - ii < 32 ? n - 1 : ii + 31); i++)
      y[i] = y[i] + a * x[i];
  /*@ end @*/
}
