void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      interchange = [('i', 'j')],
      stripmine = [('i', 8, 'is'), (['k'], 4, 'ks')]
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
