void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j;
  /*@ begin Loop(
    transform Tile(tsize=[16, 8], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  for (int ii = n - 1; ii >= 0; ii -= 16)
    for (int jj = 0; jj < m; jj += 8)
      for (i = ii; i >= (ii < 16 ? 0 : ii - 15); i--)
        for (j = jj; j < (m - jj < 8 ? m : jj + 8); j += 2)
          a[i][j] = b[j][i];
  /*@ end @*/
}
