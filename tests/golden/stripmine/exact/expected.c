void kernel(double *y, const double *x);

void kernel(double *y, const double *x) {
  /*@ begin Loop(
    transform StripMine(tsize=8, tindex='strip')
  ) @*/
  for (int strip = 0; strip < 4096; strip += 8)
    for (int i = strip; i < strip + 8; i += 2)
      y[i] = x[i];
  /*@ end @*/
}
