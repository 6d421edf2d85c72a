void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(unrolljam=(['j'], [2]), vector=(True, 'omp simd'))
  ) @*/
  for (i = 0; i < n; i++) {
    int j_last = 0;
    if (j_last < n)
      j_last += (n - j_last) / 2 * 2;
    #if defined(_OPENMP)
    #pragma omp simd
    #endif
    for (j = 0; j < j_last; j += 2) {
      c[i][j] = a[i][j] + b[j][i];
      c[i][j + 1] = a[i][j + 1] + b[j + 1][i];
    }
    #if defined(_OPENMP)
    #pragma omp simd
    #endif
    for (j = j_last; j < n; j++)
      c[i][j] = a[i][j] + b[j][i];
  }
  /*@ end @*/
}
