void kernel(unsigned n, double a[restrict n][n], const double x[restrict n]);

void kernel(unsigned n, double a[restrict n][n], const double x[restrict n]) {
  unsigned i, j, k;
  /*@ begin Loop(
    transform Parallelize(loop='j')
  ) @*/
  for (i = 1; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < 4; k++)
        a[i][j] = a[i - 1][j] + x[k];
  /*@ end @*/
}
