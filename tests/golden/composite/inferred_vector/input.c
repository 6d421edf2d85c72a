void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      unrolljam = (['i'], [2]),
      vectorize = (True, ['a', 'b'], 64)
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      a[i][j] += b[i][j];
  /*@ end @*/
}
