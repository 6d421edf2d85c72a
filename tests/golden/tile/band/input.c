void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j;
  /*@ begin Loop(
    transform Tile(tsize=[T1, T2], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  for (i = 0; i < n; i++)
    /* a row */
    for (j = 0; j < m; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
