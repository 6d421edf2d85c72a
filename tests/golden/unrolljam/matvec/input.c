void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x);

void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=UF)
  ) @*/
  for (i = 0; i <= n - 1; i++)
    for (j = 0; j <= n - 1; j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
