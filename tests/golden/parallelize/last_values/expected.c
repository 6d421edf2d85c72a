double kernel(long n, double *restrict y, const double *restrict x);

double kernel(long n, double *restrict y, const double *restrict x) {
  long i;
  double t = 0.0;
  /*@ begin Loop(
    transform Parallelize(schedule='dynamic, 8', num_threads=T)
  ) @*/
  if (n > 0) {
    #if defined(_OPENMP)
    #pragma omp parallel for num_threads(4) schedule(dynamic, 8) lastprivate(t)
    #endif
    for (i = n; i > 0; i -= 2) {
      t = x[i];
      y[i] = t * t;
    }
  }
  i = n > 0 ? (n - 1) % 2 - 1 : n;
  /*@ end @*/
  return t + (double)i;
}
