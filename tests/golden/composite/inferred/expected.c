double kernel(int n, double *restrict x, double *restrict y);

double kernel(int n, double *restrict x, double *restrict y) {
  int i;
  double t;
  int count = 0;
  /*@ begin Loop(
    transform Composite(
      parallelize = (PAR, 'static'),
      vectorize = VEC
    )
  ) @*/
  #if defined(_OPENMP)
  #pragma omp parallel for schedule(static) private(t) reduction(+: count)
  #endif
  for (i = 0; i < n; i++) {
    t = x[i] * 2.0;
    y[i] = t + t * t;
    count += i % 3;
  }
  /*@ end @*/
  return count;
}
