void kernel(int n, double *restrict y, double m[restrict n][n], const double *restrict x, double a);

void kernel(int n, double *restrict y, double m[restrict n][n], const double *restrict x, double a) {
  int i, j;
  /*@ begin Loop(
    transform Composite(tile=[('j', 16, 'jj')], unrolljam=(['i'], [2]), pragma=[('jj', 'GCC unroll 2')])
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = 0;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      y[i] += a * m[i][j] * x[j];
  /*@ end @*/
}
