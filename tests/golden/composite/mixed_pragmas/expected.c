void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Composite(openmp=(True, ['omp parallel for', 'GCC ivdep']))
  ) @*/
  #if defined(_OPENMP)
  #pragma omp parallel for
  #endif
  #if defined(__GNUC__) && !defined(__clang__) && !defined(_OPENMP)
  #pragma GCC ivdep
  #endif
  for (i = 0; i <= n - 1; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
}
