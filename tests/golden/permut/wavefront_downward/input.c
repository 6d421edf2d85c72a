void kernel(int n, double a[n][n]);

void kernel(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (i = n - 2; i >= 1; i--)
    for (j = n - 2 + i; j > i; j--)
      a[i][j - i] = 0.25 * (a[i + 1][j - i] + a[i][j - i + 1] + a[i - 1][j - i] + a[i][j - i - 1]);
  /*@ end @*/
}
