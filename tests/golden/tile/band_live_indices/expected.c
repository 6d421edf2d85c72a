int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j = 0;
  /*@ begin Loop(
    transform Tile(tsize=[32, 32], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  if (n > 0) {
    for (int ii = 0; ii < n; ii += 32)
      for (int jj = 0; jj < m; jj += 32)
        for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
          for (j = jj; j < (m - jj < 32 ? m : jj + 32); j++)
            a[i][j] = b[j][i];
    j = m > 0 ? m : 0;
  }
  i = n > 0 ? n : 0;
  /*@ end @*/
  return i + j;
}
