void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Tile(tsize=[1, 32, 16], tindex=['ii', 'jj', 'kk'], loops=['i', 'j', 'k'])
  ) @*/
  for (i = 0; i < n; i++)
    for (int jj = 0; jj < n; jj += 32)
      for (int kk = 0; kk < n; kk += 16)
        for (j = jj; j < (n - jj < 32 ? n : jj + 32); j++)
          for (k = kk; k < (n - kk < 16 ? n : kk + 16); k++)
            c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
