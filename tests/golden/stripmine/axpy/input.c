void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform StripMine(tsize=64, tindex='is')
  ) @*/
  for (i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
}
