void kernel(int n, double a[n][n]);

void kernel(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
    transform Skew(loop='j', by='i')
  ) @*/
  for (j = 2; j < 2 * n - 1; j++)
    for (i = j - n + 1 > 1 ? j - n + 1 : 1; i < (j < n ? j : n); i++)
      a[i][j - i] = a[i - 1][j - i] + a[i][j - i - 1];
  /*@ end @*/
}
