void kernel(int n, double *restrict y, double m[restrict n][n], const double *restrict x, double a);

void kernel(int n, double *restrict y, double m[restrict n][n], const double *restrict x, double a) {
  int i, j;
  /*@ begin Loop(
    transform Composite(tile=[('j', 16, 'jj')], unrolljam=(['i'], [2]), pragma=[('jj', 'GCC unroll 2')])
  ) @*/
  {
    int i_last = 0;
    if (i_last < n)
      i_last += (n - i_last) / 2 * 2;
    for (i = 0; i < i_last; i += 2) {
      y[i] = 0;
      y[i + 1] = 0;
    }
    for (i = i_last; i < n; i++)
      y[i] = 0;
  }
  {
    int i_last = 0;
    if (i_last < n)
      i_last += (n - i_last) / 2 * 2;
    for (i = 0; i < i_last; i += 2) {
      #if defined(__GNUC__) && !defined(__clang__)
      #pragma GCC unroll 2
      #endif
      for (int jj = 0; jj < n; jj += 16) {
        for (j = jj; j < (n - jj < 16 ? n : jj + 16); j++) {
          y[i] += a * m[i][j] * x[j];
          y[i + 1] += a * m[i + 1][j] * x[j];
        }
      }
    }
    for (i = i_last; i < n; i++) {
      #if defined(__GNUC__) && !defined(__clang__)
      #pragma GCC unroll 2
      #endif
      for (int jj = 0; jj < n; jj += 16)
        for (j = jj; j < (n - jj < 16 ? n : jj + 16); j++)
          y[i] += a * m[i][j] * x[j];
    }
  }
  /*@ end @*/
}
