void kernel(int n, double a[n][n]);

void kernel(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Skew(loop='j', by='i')
  ) @*/
  for (i = 1; i < n - 1; i++)
    for (j = i + 1; j < i + n - 1; j++)
      a[i][j - i] = (a[i - 1][j - i - 1] + a[i - 1][j - i] + a[i - 1][j - i + 1] + a[i][j - i - 1] + a[i][j - i]) / 5;
  /*@ end @*/
}
