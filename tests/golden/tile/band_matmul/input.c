void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Tile(tsize=[1, 32, 16], tindex=['ii', 'jj', 'kk'], loops=['i', 'j', 'k'])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
