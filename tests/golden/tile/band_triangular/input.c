void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  /*@ begin Loop(
    transform Tile(tsize=[32, 32], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
