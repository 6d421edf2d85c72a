void kernel(int n, int m, double *restrict y, double a[restrict n][m], const double *restrict x);

void kernel(int n, int m, double *restrict y, double a[restrict n][m], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i'], ufactors=[2])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = (i > 5 ? i - 5 : 0); j <= (i + 5 < m - 1 ? i + 5 : m - 1); j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
