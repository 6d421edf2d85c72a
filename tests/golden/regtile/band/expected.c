void kernel(int n, int m, double *restrict y, double a[restrict n][m], const double *restrict x);

void kernel(int n, int m, double *restrict y, double a[restrict n][m], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i'], ufactors=[2])
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    const int newlb_j = i + 1 > 5 ? i - 4 : 0;
    const int newub_j = i + 5 < m - 1 ? i + 5 : m - 1;
    for (j = i > 5 ? i - 5 : 0; j < (newub_j < newlb_j ? newub_j + 1 : newlb_j); j++)
      y[i] += a[i][j] * x[j];
    for (j = newlb_j; j <= newub_j; j++) {
      y[i] += a[i][j] * x[j];
      y[i + 1] += a[i + 1][j] * x[j];
    }
    for (j = newlb_j <= newub_j ? newub_j + 1 : newlb_j; j <= (i + 1 + 5 < m - 1 ? i + 6 : m - 1); j++)
      y[i + 1] += a[i + 1][j] * x[j];
  }
  for (; i < n; i++)
    for (j = i > 5 ? i - 5 : 0; j <= (i + 5 < m - 1 ? i + 5 : m - 1); j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
