void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  int i, j, ii, jj;
  /*@ begin Loop(
    transform Permut(seq=['ii', 'jj', 'i', 'j'])
  ) @*/
  for (ii = 0; ii < n; ii += 32)
    for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
      for (jj = 0; jj <= i; jj += 16)
        for (j = jj; j <= (i - jj < 16 ? i : jj + 15); j++)
          a[i][j] = b[j][i];
  /*@ end @*/
}
