void kernel(unsigned long n, double c[restrict n][n], const double a[n][n], const double b[n][n]);

void kernel(unsigned long n, double c[restrict n][n], const double a[n][n], const double b[n][n]) {
  unsigned long i, j, k;
  /*@ begin Loop(
    transform Vectorize(loop='j')
  ) @*/
  for (i = 0; i < n; i++)
    for (k = 0; k < n; k++) {
      #if defined(_OPENMP)
      #pragma omp simd
      #endif
      for (j = 0; j < n; j++)
        c[i][j] += a[i][k] * b[k][j];
    }
  /*@ end @*/
}
