void add(unsigned n, float *y, const float *x);

void add(unsigned n, float *y, const float *x) {
  unsigned i;
  /*@ begin Loop(
    transform Prefetch(aref=None, distance=64)
  ) @*/
  for (i = 1; i < n; i++) {
    __builtin_prefetch(&x[(n - i > 64 ? i + 64 : i) - 1], 0, 3);
    __builtin_prefetch(&y[n - i > 64 ? i + 64 : i], 0, 3);
    y[i] = x[i - 1] + x[i] + y[0];
  }
  /*@ end @*/
}
