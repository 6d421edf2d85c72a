void kernel(double c[restrict 10][10], double a[restrict 10][5], double b[restrict 5][10]);

void kernel(double c[restrict 10][10], double a[restrict 10][5], double b[restrict 5][10]) {
  int i, j, k;
  /*@ begin Loop(
    transform Contract(order=['i', 'j'], rows=('i', 2), columns=('j', 4), unroll=2, prefetch=('j', 1))
  ) @*/
  for (i = 0; i < 10; i += 2) {
    for (j = 0; j < 8; j += 4) {
      const int ahead = j <= 2 ? j + 4 : j;
      __builtin_prefetch(&c[i][ahead], 1, 3);
      __builtin_prefetch(&c[i + 1][ahead], 1, 3);
      double sum0[4];
      double sum1[4];
      for (int column = 0; column < 4; column++) {
        sum0[column] = c[i][j + column];
        sum1[column] = c[i + 1][j + column];
      }
      for (k = 0; k < 4; k += 2) {
        for (int column = 0; column < 4; column++) {
          sum0[column] += a[i][k] * b[k][j + column];
          sum1[column] += a[i + 1][k] * b[k][j + column];
        }
        for (int column = 0; column < 4; column++) {
          sum0[column] += a[i][k + 1] * b[k + 1][j + column];
          sum1[column] += a[i + 1][k + 1] * b[k + 1][j + column];
        }
      }
      for (int column = 0; column < 4; column++) {
        sum0[column] += a[i][4] * b[4][j + column];
        sum1[column] += a[i + 1][4] * b[4][j + column];
      }
      for (int column = 0; column < 4; column++) {
        c[i][j + column] = sum0[column];
        c[i + 1][j + column] = sum1[column];
      }
    }
    {
      j = 8;
      const int ahead = j <= 2 ? j + 4 : j;
      __builtin_prefetch(&c[i][ahead], 1, 3);
      __builtin_prefetch(&c[i + 1][ahead], 1, 3);
      double sum0[2];
      double sum1[2];
      for (int column = 0; column < 2; column++) {
        sum0[column] = c[i][j + column];
        sum1[column] = c[i + 1][j + column];
      }
      for (k = 0; k < 4; k += 2) {
        for (int column = 0; column < 2; column++) {
          sum0[column] += a[i][k] * b[k][j + column];
          sum1[column] += a[i + 1][k] * b[k][j + column];
        }
        for (int column = 0; column < 2; column++) {
          sum0[column] += a[i][k + 1] * b[k + 1][j + column];
          sum1[column] += a[i + 1][k + 1] * b[k + 1][j + column];
        }
      }
      for (int column = 0; column < 2; column++) {
        sum0[column] += a[i][4] * b[4][j + column];
        sum1[column] += a[i + 1][4] * b[4][j + column];
      }
      for (int column = 0; column < 2; column++) {
        c[i][j + column] = sum0[column];
        c[i + 1][j + column] = sum1[column];
      }
    }
  }
  /*@ end @*/
}
