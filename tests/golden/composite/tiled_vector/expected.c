void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(tile=[('j', 16, 'jj')], vector=(True, ['ivdep', 'GCC unroll 2']))
  ) @*/
  for (i = 0; i < n; i++)
    for (int jj = 0; jj < n; jj += 16) {
      const int j_stop = n - jj < 16 ? n : jj + 16;
      #if defined(__INTEL_COMPILER)
      #pragma ivdep
      #endif
      #if defined(__GNUC__) && !defined(__clang__)
      #pragma GCC ivdep
      #endif
      #if defined(__GNUC__) && !defined(__clang__)
      #pragma GCC unroll 2
      #endif
      for (j = jj; j < j_stop; j++)
        c[i][j] = a[i][j] + b[j][i];
    }
  /*@ end @*/
}
