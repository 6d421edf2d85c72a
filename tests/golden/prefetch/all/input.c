void add(unsigned n, float *y, const float *x);

void add(unsigned n, float *y, const float *x) {
  unsigned i;
  /*@ begin Loop(
    transform Prefetch(aref=None, distance=64)
  ) @*/
  for (i = 1; i < n; i++)
    y[i] = x[i - 1] + x[i] + y[0];
  /*@ end @*/
}
