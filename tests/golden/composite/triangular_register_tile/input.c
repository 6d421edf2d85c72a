void kernel(int n, double y[restrict n], double a[restrict n][n], double x[restrict n]);

void kernel(int n, double y[restrict n], double a[restrict n][n], double x[restrict n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      regtile = (['i', 'j'], [2, 3]),
      boundreplace = (True, 'first_', 'end_')
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = i + 1; j < n; j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
