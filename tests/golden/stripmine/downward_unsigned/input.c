void kernel(unsigned long n, double *y, const double *x);

void kernel(unsigned long n, double *y, const double *x) {
  unsigned long i;
  /*@ begin Loop(
    transform StripMine(tsize=16, tindex='is')
  ) @*/
  for (i = n; i > 0; i--)
    y[i - 1] = x[i - 1];
  /*@ end @*/
}
