void kernel(int n, int m, double c[restrict n][m], const double *restrict x);

void kernel(int n, int m, double c[restrict n][m], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=2, parallelize=True)
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      c[i][j] = c[i][j] * x[j];
  /*@ end @*/
}
