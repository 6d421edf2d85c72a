void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      interchange = [('i', 'j')],
      stripmine = [('i', 8, 'is'), (['k'], 4, 'ks')]
    )
  ) @*/
  for (j = 0; j < n; j++)
    for (int is = 0; is < n; is += 8)
      for (i = is; i < (n - is < 8 ? n : is + 8); i++)
        a[i][j] = b[j][i];
  /*@ end @*/
}
