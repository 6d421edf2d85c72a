void kernel(int n, double *restrict s, double a[restrict n][n]);

void kernel(int n, double *restrict s, double a[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      unrolljam = (['i'], [2]),
      vector = (True, ['ivdep', 'vector always'])
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 1; j < n; j++)
      a[i][j] = a[i][j - 1] * 0.5 + s[i];
  /*@ end @*/
}
