void kernel(double c[restrict 10][10], double a[restrict 10][5], double b[restrict 5][10]);

void kernel(double c[restrict 10][10], double a[restrict 10][5], double b[restrict 5][10]) {
  int i, j, k;
  /*@ begin Loop(
    transform Contract(order=['i', 'j'], rows=('i', 2), columns=('j', 4), unroll=2, sums='scalars')
  ) @*/
  for (i = 0; i < 10; i += 2) {
    for (j = 0; j < 8; j += 4) {
      for (int column = 0; column < 4; column++) {
        double sum0;
        double sum1;
        sum0 = c[i][j + column];
        sum1 = c[i + 1][j + column];
        for (k = 0; k < 4; k += 2) {
          sum0 += a[i][k] * b[k][j + column];
          sum1 += a[i + 1][k] * b[k][j + column];
          sum0 += a[i][k + 1] * b[k + 1][j + column];
          sum1 += a[i + 1][k + 1] * b[k + 1][j + column];
        }
        sum0 += a[i][4] * b[4][j + column];
        sum1 += a[i + 1][4] * b[4][j + column];
        c[i][j + column] = sum0;
        c[i + 1][j + column] = sum1;
      }
    }
    {
      j = 8;
      for (int column = 0; column < 2; column++) {
        double sum0;
        double sum1;
        sum0 = c[i][j + column];
        sum1 = c[i + 1][j + column];
        for (k = 0; k < 4; k += 2) {
          sum0 += a[i][k] * b[k][j + column];
          sum1 += a[i + 1][k] * b[k][j + column];
          sum0 += a[i][k + 1] * b[k + 1][j + column];
          sum1 += a[i + 1][k + 1] * b[k + 1][j + column];
        }
        sum0 += a[i][4] * b[4][j + column];
        sum1 += a[i + 1][4] * b[4][j + column];
        c[i][j + column] = sum0;
        c[i + 1][j + column] = sum1;
      }
    }
  }
  /*@ end @*/
}
