void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  /*@ begin Loop(
    transform Tile(tsize=[32, 32], tindex=['ii', 'jj'], loops=['i', 'j'])
  ) @*/
  for (int ii = 0; ii < n; ii += 32)
    for (int jj = 0; jj <= ii + 31; jj += 32)
      for (int i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
        for (int j = jj; j <= (i - jj < 31 ? i : jj + 31); j++)
          a[i][j] = b[j][i];
  /*@ end @*/
}
