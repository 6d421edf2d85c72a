void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j;
  /*@ begin Loop(
    transform Tile(tsize=[T1, T2], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  /* a row */
  for (int ii = 0; ii < n; ii += 32)
    for (int jj = 0; jj < m; jj += 64)
      for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
        for (j = jj; j < (m - jj < 64 ? m : jj + 64); j++)
          a[i][j] = b[j][i];
  /*@ end @*/
}
