void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x);

void kernel(int n, double *restrict y, double a[restrict n][n], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=2)
  ) @*/
  for (i = 0; i < n; i++) {
    y[i] = 0;
    for (j = 0; j <= i; j++)
      y[i] += a[i][j] * x[j]; // the lower triangle
  }
  /*@ end @*/
}
