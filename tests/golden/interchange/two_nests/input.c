void kernel(int n, int m, double a[restrict n][m], double b[restrict n][m], double *restrict x);

void kernel(int n, int m, double a[restrict n][m], double b[restrict n][m], double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform Interchange(first='i', second='j')
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      a[i][j] = 0;
  x[0] = 0;
  for (j = 0; j < m; j++)
    for (i = 0; i < n; i += 2)
      b[i][j] = 1;
  /*@ end @*/
}
