int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j = 0;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = i; j < m; j += 1)
      a[i][j] = b[j][i];
  /*@ end @*/
  return i + j;
}
