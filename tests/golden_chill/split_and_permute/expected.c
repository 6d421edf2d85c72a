void rowsums(int n, double *restrict x, double a[restrict n][n]);

void rowsums(int n, double *restrict x, double a[restrict n][n]) {
  int i, j;
  /*@ begin CHiLL(
    distribute({1}, 1)
    permute(1, ("j", "i"))
    unroll(1, "i", U)
  ) @*/
  for (i = 0; i < n; i++) {
    /* every row */
    x[i] = 0;
  }
  for (j = 0; j < n; j++) {
    for (i = 0; n > 1 && i < n - 1; i += 2) {
      x[i] += a[j][i];
      x[i + 1] += a[j][i + 1];
    }
    for (; i < n; i++)
      x[i] += a[j][i];
  }
  for (i = 0; i < n; i++)
    x[i] *= 0.5;
  /*@ end @*/
}
