#define N 64

void matmul(double c[restrict N][N], double a[restrict N][N], double b[restrict N][N]);

void matmul(double c[restrict N][N], double a[restrict N][N], double b[restrict N][N]) {
  int i, j, k;
  /*@ begin CHiLL(
    unroll(0, "i", 2)       # the copies of the loops inside are fused
    unroll(0, "j", U)
    registers(0, "k")       # one scalar for each copy
  ) @*/
  for (i = 0; i < 64; i++)
    for (j = 0; j < 64; j++)
      for (k = 0; k < 64; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
