#define N 64

void matmul(double c[restrict N][N], double a[restrict N][N], double b[restrict N][N]);

void matmul(double c[restrict N][N], double a[restrict N][N], double b[restrict N][N]) {
  int i, j, k;
  /*@ begin CHiLL(
    unroll(0, "i", 2)       # the copies of the loops inside are fused
    unroll(0, "j", U)
    registers(0, "k")       # one scalar for each copy
  ) @*/
  for (i = 0; i < 64; i += 2) {
    for (j = 0; j < 64; j += 2) {
      double s0_1 = c[i][j];
      double s0_2 = c[i + 1][j];
      double s0_3 = c[i][j + 1];
      double s0_4 = c[i + 1][j + 1];
      for (k = 0; k < 64; k++) {
        s0_1 += a[i][k] * b[k][j];
        s0_2 += a[i + 1][k] * b[k][j];
        s0_3 += a[i][k] * b[k][j + 1];
        s0_4 += a[i + 1][k] * b[k][j + 1];
      }
      c[i][j] = s0_1;
      c[i + 1][j] = s0_2;
      c[i][j + 1] = s0_3;
      c[i + 1][j + 1] = s0_4;
    }
  }
  /*@ end @*/
}
