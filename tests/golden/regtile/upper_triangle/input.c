void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x);

void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i', 'j'], ufactors=[2, 2])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
