void kernel(int n, double c[n][n], double a[n][n], double b[n][n]);

void kernel(int n, double c[n][n], double a[n][n], double b[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      tile = [('i', 1, 'ii')],
      unrolljam = (['i', 'missing'], [1, 8]),
      scalarreplace = (SCR, 'double'),
      regtile = (['i', 'j'], [1, 1]),
      openmp = (False, 'omp parallel for'),
      vector = (False, ''),
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      /* the inner product */
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
