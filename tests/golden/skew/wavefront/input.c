void kernel(int n, double a[n][n]);

void kernel(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
    transform Skew(loop='j', by='i')
  ) @*/
  for (i = 1; i < n; i++)
    for (j = 1; j < n; j++)
      a[i][j] = a[i - 1][j] + a[i][j - 1];
  /*@ end @*/
}
