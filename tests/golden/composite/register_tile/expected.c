void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      regtile = (['i', 'j'], [2, 2]),
      scalarreplace = True
    )
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    for (j = 0; n > 1 && j < n - 1; j += 2) {
      double scv_1 = c[i][j];
      double scv_2 = c[i + 1][j];
      double scv_3 = c[i][j + 1];
      double scv_4 = c[i + 1][j + 1];
      for (k = 0; k < n; k++) {
        const double scv_5 = a[i][k];
        const double scv_6 = b[k][j];
        scv_1 += scv_5 * scv_6;
        const double scv_7 = a[i + 1][k];
        scv_2 += scv_7 * scv_6;
        const double scv_8 = b[k][j + 1];
        scv_3 += scv_5 * scv_8;
        scv_4 += scv_7 * scv_8;
      }
      c[i][j] = scv_1;
      c[i + 1][j] = scv_2;
      c[i][j + 1] = scv_3;
      c[i + 1][j + 1] = scv_4;
    }
    for (; j < n; j++) {
      double scv_9 = c[i][j];
      double scv_10 = c[i + 1][j];
      for (k = 0; k < n; k++) {
        const double scv_11 = b[k][j];
        scv_9 += a[i][k] * scv_11;
        scv_10 += a[i + 1][k] * scv_11;
      }
      c[i][j] = scv_9;
      c[i + 1][j] = scv_10;
    }
  }
  for (; i < n; i++) {
    for (j = 0; n > 1 && j < n - 1; j += 2) {
      double scv_12 = c[i][j];
      double scv_13 = c[i][j + 1];
      for (k = 0; k < n; k++) {
        const double scv_14 = a[i][k];
        scv_12 += scv_14 * b[k][j];
        scv_13 += scv_14 * b[k][j + 1];
      }
      c[i][j] = scv_12;
      c[i][j + 1] = scv_13;
    }
    for (; j < n; j++) {
      double scv_15 = c[i][j];
      for (k = 0; k < n; k++)
        scv_15 += a[i][k] * b[k][j];
      c[i][j] = scv_15;
    }
  }
  /*@ end @*/
}
