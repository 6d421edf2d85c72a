void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      tile = [('j', 64, 'jj'), ('k', 32, 'kk')],
      permut = [['jj', 'kk', 'i', 'k', 'j']],
      arrcopy = [(COPY, 'b[k][j]', [32, 64])],
      unrolljam = (['i', 'k'], [2, 2]),
      scalarreplace = (True, 'double')
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
