unsigned kernel(unsigned s, unsigned n, double *y);

unsigned kernel(unsigned s, unsigned n, double *y) {
  unsigned i;
  /*@ begin Loop(
    transform Peel(first=1, last=2)
  ) @*/
  if (n > s && n - s > 8) {
    const unsigned i_last = s + (n - s - 1) / 4 * 4;
    y[s] *= 2.0;
    for (i = s + 4; i < i_last - 4; i += 4)
      y[i] *= 2.0;
    y[i_last - 4] *= 2.0;
    y[i_last] *= 2.0;
    i = i_last + 4;
  } else
    for (i = s; i < n; i += 4)
      y[i] *= 2.0;
  /*@ end @*/
  return i;
}
