void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      tile = [('i', T, 'ii'), ('j', T, 'jj'), ('k', T, 'kk'), (('ii', 'i'), 1, 'iii')],
      permut = [['ii', 'jj', 'kk', 'i', 'k', 'j']],
      unrolljam = (['i', 'j'], [U, 4]),
      vector = (VEC, ['ivdep', 'vector always']),
      openmp = (OMP, 'omp parallel for private(i, j, k)'),
    )
  ) @*/
  /* the inner product */
  #if defined(_OPENMP)
  #pragma omp parallel for private(i, j, k)
  #endif
  for (int ii = 0; ii < n; ii += 32)
    for (int jj = 0; jj < n; jj += 32)
      for (int kk = 0; kk < n; kk += 32) {
        const int i_stop = n - ii < 32 ? n : ii + 32;
        int i_last = ii;
        if (i_last < i_stop)
          i_last += (i_stop - i_last) / 2 * 2;
        for (i = ii; i < i_last; i += 2) {
          for (k = kk; k < (n - kk < 32 ? n : kk + 32); k++) {
            const int j_stop = n - jj < 32 ? n : jj + 32;
            int j_last = jj;
            if (j_last < j_stop)
              j_last += (j_stop - j_last) / 4 * 4;
            #if defined(__INTEL_COMPILER)
            #pragma ivdep
            #endif
            #if defined(__GNUC__) && !defined(__clang__)
            #pragma GCC ivdep
            #endif
            #if defined(__INTEL_COMPILER)
            #pragma vector always
            #endif
            for (j = jj; j < j_last; j += 4) {
              c[i][j] += a[i][k] * b[k][j];
              c[i + 1][j] += a[i + 1][k] * b[k][j];
              c[i][j + 1] += a[i][k] * b[k][j + 1];
              c[i + 1][j + 1] += a[i + 1][k] * b[k][j + 1];
              c[i][j + 2] += a[i][k] * b[k][j + 2];
              c[i + 1][j + 2] += a[i + 1][k] * b[k][j + 2];
              c[i][j + 3] += a[i][k] * b[k][j + 3];
              c[i + 1][j + 3] += a[i + 1][k] * b[k][j + 3];
            }
            #if defined(__INTEL_COMPILER)
            #pragma ivdep
            #endif
            #if defined(__GNUC__) && !defined(__clang__)
            #pragma GCC ivdep
            #endif
            #if defined(__INTEL_COMPILER)
            #pragma vector always
            #endif
            for (j = j_last; j < j_stop; j++) {
              c[i][j] += a[i][k] * b[k][j];
              c[i + 1][j] += a[i + 1][k] * b[k][j];
            }
          }
        }
        for (i = i_last; i < i_stop; i++)
          for (k = kk; k < (n - kk < 32 ? n : kk + 32); k++) {
            const int j_stop = n - jj < 32 ? n : jj + 32;
            int j_last = jj;
            if (j_last < j_stop)
              j_last += (j_stop - j_last) / 4 * 4;
            #if defined(__INTEL_COMPILER)
            #pragma ivdep
            #endif
            #if defined(__GNUC__) && !defined(__clang__)
            #pragma GCC ivdep
            #endif
            #if defined(__INTEL_COMPILER)
            #pragma vector always
            #endif
            for (j = jj; j < j_last; j += 4) {
              c[i][j] += a[i][k] * b[k][j];
              c[i][j + 1] += a[i][k] * b[k][j + 1];
              c[i][j + 2] += a[i][k] * b[k][j + 2];
              c[i][j + 3] += a[i][k] * b[k][j + 3];
            }
            #if defined(__INTEL_COMPILER)
            #pragma ivdep
            #endif
            #if defined(__GNUC__) && !defined(__clang__)
            #pragma GCC ivdep
            #endif
            #if defined(__INTEL_COMPILER)
            #pragma vector always
            #endif
            for (j = j_last; j < j_stop; j++)
              c[i][j] += a[i][k] * b[k][j];
          }
      }
  /*@ end @*/
}
