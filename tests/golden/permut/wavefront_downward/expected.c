void kernel(int n, double a[n][n]);

void kernel(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (j = 2 * n - 4; j > 1; j--)
    for (i = j - 1 < n - 2 ? j - 1 : n - 2; i > (j - n + 1 > 0 ? j - n + 1 : 0); i--)
      a[i][j - i] = 0.25 * (a[i + 1][j - i] + a[i][j - i + 1] + a[i - 1][j - i] + a[i][j - i - 1]);
  /*@ end @*/
}
