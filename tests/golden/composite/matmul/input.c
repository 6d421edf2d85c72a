void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      tile = [('i', T, 'ii'), ('j', T, 'jj'), ('k', T, 'kk'), (('ii', 'i'), 1, 'iii')],
      permut = [['ii', 'jj', 'kk', 'i', 'k', 'j']],
      unrolljam = (['i', 'j'], [U, 4]),
      vector = (VEC, ['ivdep', 'vector always']),
      openmp = (OMP, 'omp parallel for private(i, j, k)'),
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      /* the inner product */
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
