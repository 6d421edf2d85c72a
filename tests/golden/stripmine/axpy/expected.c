void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform StripMine(tsize=64, tindex='is')
  ) @*/
  for (int is = 0; is < n; is += 64)
    for (i = is; i < (n - is < 64 ? n : is + 64); i++)
      y[i] += a * x[i];
  /*@ end @*/
}
