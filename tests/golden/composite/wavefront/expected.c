void kernel(int n, double a[restrict n][n]);

void kernel(int n, double a[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      skew = [('j', 'i', 1)],
      tile = [(['i', 'j'], [16, 32], ['ii', 'jj'])]
    )
  ) @*/
  for (int ii = 1; ii < n - 1; ii += 16)
    for (int jj = ii + 1; jj < ii + n + 14; jj += 32)
      for (i = ii; i < (n - 1 - ii < 16 ? n - 1 : ii + 16); i++)
        for (j = jj > i + 1 ? jj : i + 1; j < (i + n - jj - 1 < 32 ? i + n - 1 : jj + 32); j++)
          a[i][j - i] = 0.2 * (a[i - 1][j - i + 1] + a[i - 1][j - i] + a[i][j - i - 1] + a[i][j - i] + a[i + 1][j - i]);
  /*@ end @*/
}
