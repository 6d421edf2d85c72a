int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

int kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j = 0;
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  if (n > 0) {
    for (j = 0; j < m; j += 1)
      for (i = 0; i < (j + 1 < n ? j + 1 : n); i++)
        a[i][j] = b[j][i];
    j = n - 1 < m ? m : n - 1;
  }
  i = n > 0 ? n : 0;
  /*@ end @*/
  return i + j;
}
