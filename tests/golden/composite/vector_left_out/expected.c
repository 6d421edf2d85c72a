void kernel(int n, double *restrict s, double a[restrict n][n]);

void kernel(int n, double *restrict s, double a[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      unrolljam = (['i'], [2]),
      vector = (True, ['ivdep', 'vector always'])
    )
  ) @*/
  /* Left out: `ivdep` would change the result: flow dependence on `a`: `a[i][j]` (line 13) writes what `a[i][j - 1]` (line 13) reads later, direction (<) over (j), distance (1); so the loop `j` cannot be declared free of dependences. */
  {
    int i_last = 0;
    if (i_last < n)
      i_last += (n - i_last) / 2 * 2;
    for (i = 0; i < i_last; i += 2) {
      #if defined(__INTEL_COMPILER)
      #pragma vector always
      #endif
      for (j = 1; j < n; j++) {
        a[i][j] = a[i][j - 1] * 0.5 + s[i];
        a[i + 1][j] = a[i + 1][j - 1] * 0.5 + s[i + 1];
      }
    }
    for (i = i_last; i < n; i++) {
      #if defined(__INTEL_COMPILER)
      #pragma vector always
      #endif
      for (j = 1; j < n; j++)
        a[i][j] = a[i][j - 1] * 0.5 + s[i];
    }
  }
  /*@ end @*/
}
