void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Specialize(aligned=['x', 'y'], alignment=64)
  ) @*/
  if ((unsigned long)x % 64 == 0 && (unsigned long)y % 64 == 0) {
    #if defined(_OPENMP)
    #pragma omp simd aligned(x, y: 64)
    #endif
    for (i = 0; i < n; i++)
      y[i] += a * x[i];
  } else {
    for (i = 0; i < n; i++)
      y[i] += a * x[i];
  }
  /*@ end @*/
}
