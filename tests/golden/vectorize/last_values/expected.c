double kernel(int s, int n, double *restrict y, const double *restrict x);

double kernel(int s, int n, double *restrict y, const double *restrict x) {
  int i;
  double t = 0.0;
  /*@ begin Loop(
    transform Vectorize()
  ) @*/
  if (s <= n) {
    #if defined(_OPENMP)
    #pragma omp simd lastprivate(t)
    #endif
    for (i = s; i <= n; i += 3) {
      t = x[i] * 0.5;
      y[i] = t;
    }
  }
  i = s <= n ? n - (n - s) % 3 + 3 : s;
  /*@ end @*/
  return t + i;
}
