void kernel(double *y, const double *x);

void kernel(double *y, const double *x) {
  /*@ begin Loop(
    transform StripMine(tsize=8, tindex='strip')
  ) @*/
  for (int i = 0; i < 4096; i += 2)
    y[i] = x[i];
  /*@ end @*/
}
