void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j;
  /*@ begin Loop(
    transform Tile(tsize=[16, 8], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  for (i = n - 1; i >= 0; i--)
    for (j = 0; j < m; j += 2)
      a[i][j] = b[j][i];
  /*@ end @*/
}
