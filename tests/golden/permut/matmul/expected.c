void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Permut(seq=['k', 'i', 'j'])
  ) @*/
  /* the inner product */
  for (k = 0; k < n; k++)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
