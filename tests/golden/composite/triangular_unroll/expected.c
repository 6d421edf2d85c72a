void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform Composite(unrolljam=(['i', 'j'], [2, 2]))
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    for (j = 0; i >= 1 && j <= i - 1; j += 2) {
      c[i][j] = a[i][j] + b[j][i];
      c[i + 1][j] = a[i + 1][j] + b[j][i + 1];
      c[i][j + 1] = a[i][j + 1] + b[j + 1][i];
      c[i + 1][j + 1] = a[i + 1][j + 1] + b[j + 1][i + 1];
    }
    for (; j <= i; j++) {
      c[i][j] = a[i][j] + b[j][i];
      c[i + 1][j] = a[i + 1][j] + b[j][i + 1];
    }
    for (j = i + 1; j <= i + 1; j++)
      c[i + 1][j] = a[i + 1][j] + b[j][i + 1];
  }
  for (; i < n; i++) {
    for (j = 0; i >= 1 && j <= i - 1; j += 2) {
      c[i][j] = a[i][j] + b[j][i];
      c[i][j + 1] = a[i][j + 1] + b[j + 1][i];
    }
    for (; j <= i; j++)
      c[i][j] = a[i][j] + b[j][i];
  }
  /*@ end @*/
}
