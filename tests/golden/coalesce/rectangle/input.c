void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j;
  /*@ begin Loop(
    transform Coalesce(index='ij')
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
