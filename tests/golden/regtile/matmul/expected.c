void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform RegTile(loops=['i', 'j'], ufactors=[TI, TJ])
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    for (j = 0; n > 1 && j < n - 1; j += 2) {
      for (k = 0; k < n; k++) {
        c[i][j] += a[i][k] * b[k][j];
        c[i + 1][j] += a[i + 1][k] * b[k][j];
        c[i][j + 1] += a[i][k] * b[k][j + 1];
        c[i + 1][j + 1] += a[i + 1][k] * b[k][j + 1];
      }
    }
    for (; j < n; j++) {
      for (k = 0; k < n; k++) {
        c[i][j] += a[i][k] * b[k][j];
        c[i + 1][j] += a[i + 1][k] * b[k][j];
      }
    }
  }
  for (; i < n; i++) {
    for (j = 0; n > 1 && j < n - 1; j += 2) {
      for (k = 0; k < n; k++) {
        c[i][j] += a[i][k] * b[k][j];
        c[i][j + 1] += a[i][k] * b[k][j + 1];
      }
    }
    for (; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  }
  /*@ end @*/
}
