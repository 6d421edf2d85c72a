void kernel(int n, int m, double c[restrict n][m], const double *restrict x);

void kernel(int n, int m, double c[restrict n][m], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=2, parallelize=True)
  ) @*/
  {
    int i_last = 0;
    if (i_last < n)
      i_last += (n - i_last) / 2 * 2;
    #if defined(_OPENMP)
    #pragma omp parallel for private(j)
    #endif
    for (i = 0; i < i_last; i += 2) {
      for (j = 0; j < m; j++) {
        c[i][j] = c[i][j] * x[j];
        c[i + 1][j] = c[i + 1][j] * x[j];
      }
    }
    for (i = i_last; i < n; i++)
      for (j = 0; j < m; j++)
        c[i][j] = c[i][j] * x[j];
  }
  /*@ end @*/
}
