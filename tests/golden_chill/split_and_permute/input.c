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
    for (j = 0; j < n; j++)
      x[i] += a[j][i];
    x[i] *= 0.5;
  }
  /*@ end @*/
}
