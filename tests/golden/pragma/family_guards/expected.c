void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Pragma(pragma_str=['ivdep', 'GCC unroll 4', '', 'vector always'])
  ) @*/
  #if defined(__INTEL_COMPILER)
  #pragma ivdep
  #endif
  #if defined(__GNUC__) && !defined(__clang__)
  #pragma GCC ivdep
  #endif
  #if defined(__GNUC__) && !defined(__clang__)
  #pragma GCC unroll 4
  #endif
  #if defined(__INTEL_COMPILER)
  #pragma vector always
  #endif
  for (i = 0; i <= n - 1; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
}
