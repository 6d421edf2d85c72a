void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      unrolljam = (['i'], [2]),
      vectorize = (True, ['a', 'b'], 64)
    )
  ) @*/
  {
    int i_last = 0;
    if (i_last < n)
      i_last += (n - i_last) / 2 * 2;
    for (i = 0; i < i_last; i += 2) {
      #if defined(_OPENMP)
      #pragma omp simd aligned(a, b: 64)
      #endif
      for (j = 0; j < n; j++) {
        a[i][j] += b[i][j];
        a[i + 1][j] += b[i + 1][j];
      }
    }
    for (i = i_last; i < n; i++) {
      #if defined(_OPENMP)
      #pragma omp simd aligned(a, b: 64)
      #endif
      for (j = 0; j < n; j++)
        a[i][j] += b[i][j];
    }
  }
  /*@ end @*/
}
