unsigned kernel(unsigned s, unsigned n, double *y);

unsigned kernel(unsigned s, unsigned n, double *y) {
  unsigned i;
  /*@ begin Loop(
    transform Peel(first=1, last=2)
  ) @*/
  for (i = s; i < n; i += 4)
    y[i] *= 2.0;
  /*@ end @*/
  return i;
}
