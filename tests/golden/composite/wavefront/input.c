void kernel(int n, double a[restrict n][n]);

void kernel(int n, double a[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      skew = [('j', 'i', 1)],
      tile = [(['i', 'j'], [16, 32], ['ii', 'jj'])]
    )
  ) @*/
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++)
      a[i][j] = 0.2 * (a[i - 1][j + 1] + a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i + 1][j]);
  /*@ end @*/
}
