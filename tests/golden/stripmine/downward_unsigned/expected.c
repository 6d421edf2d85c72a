void kernel(unsigned long n, double *y, const double *x);

void kernel(unsigned long n, double *y, const double *x) {
  unsigned long i;
  /*@ begin Loop(
    transform StripMine(tsize=16, tindex='is')
  ) @*/
  for (unsigned long is = n; is > 0; is = is > 16 ? is - 16 : 0)
    for (i = is; i > (is < 16 ? 0 : is - 16); i--)
      y[i - 1] = x[i - 1];
  /*@ end @*/
}
