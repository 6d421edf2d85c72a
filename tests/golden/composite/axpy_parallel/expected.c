void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Composite(unrolljam=(['i'], [4]), openmp=(True, 'omp parallel for'), vector=(True, 'ivdep'))
  ) @*/
  {
    int i_last = 0;
    if (i_last <= n - 1 && n - 1 - i_last >= 3)
      i_last += (n - 1 - i_last - 3) / 4 * 4 + 4;
    #if defined(_OPENMP)
    #pragma omp parallel for
    #endif
    #if defined(__INTEL_COMPILER) && !defined(_OPENMP)
    #pragma ivdep
    #endif
    #if defined(__GNUC__) && !defined(__clang__) && !defined(_OPENMP)
    #pragma GCC ivdep
    #endif
    for (i = 0; i < i_last; i += 4) {
      y[i] = y[i] + a * x[i];
      y[i + 1] = y[i + 1] + a * x[i + 1];
      y[i + 2] = y[i + 2] + a * x[i + 2];
      y[i + 3] = y[i + 3] + a * x[i + 3];
    }
    #if defined(__INTEL_COMPILER)
    #pragma ivdep
    #endif
    #if defined(__GNUC__) && !defined(__clang__)
    #pragma GCC ivdep
    #endif
    for (i = i_last; i <= n - 1; i++)
      y[i] = y[i] + a * x[i];
  }
  /*@ end @*/
}
