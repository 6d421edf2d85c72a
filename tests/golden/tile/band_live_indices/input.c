int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j = 0;
  /*@ begin Loop(
    transform Tile(tsize=[32, 32], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
  return i + j;
}
