void kernel(int n, double a[restrict n][n], double *restrict s, double *restrict t);

void kernel(int n, double a[restrict n][n], double *restrict s, double *restrict t) {
  int i, j;
  /*@ begin Loop(
    transform Distribute(loop='j')
  ) @*/
  for (i = 0; i < n; i++) {
    s[i] = 0;
    for (j = 0; j < n; j++) {
      s[i] += a[i][j];
      t[j] += a[i][j];
    }
  }
  /*@ end @*/
}
