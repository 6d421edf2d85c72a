void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      regtile = (['i', 'j'], [2, 2]),
      scalarreplace = True
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
