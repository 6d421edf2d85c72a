void local_grad3(int nelt, double ur[restrict nelt][10][10][10], double us[restrict nelt][10][10][10],
                 double ut[restrict nelt][10][10][10], double u[restrict nelt][10][10][10],
                 double D[restrict 10][10], double Dt[restrict 10][10]);

void local_grad3(int nelt, double ur[restrict nelt][10][10][10], double us[restrict nelt][10][10][10],
                 double ut[restrict nelt][10][10][10], double u[restrict nelt][10][10][10],
                 double D[restrict 10][10], double Dt[restrict 10][10]) {
  /*@ begin CHiLL(
    UF0[] = [1, 2, 5, 10];
    UF2[] = [1, 2, 5, 10];
    registers(0, "m")
    registers(1, "m")
    registers(2, "m")
    fuse(0, 1)
    unroll(0, "m", UF0)
    unroll(2, "m", UF2)
  ) @*/
  // the derivative of u in each of the three directions
  for (int e = 0; e < nelt; e++) {
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++)
        for (int k = 0; k < 10; k++) {
          double s0_1 = ur[e][i][j][k];
          double s1_1 = us[e][i][j][k];
          for (int m = 0; m < 10; m += 10) {
            s0_1 += D[m][k] * u[e][i][j][m];
            s1_1 += u[e][i][m][k] * Dt[j][m];
            s0_1 += D[m + 1][k] * u[e][i][j][m + 1];
            s1_1 += u[e][i][m + 1][k] * Dt[j][m + 1];
            s0_1 += D[m + 2][k] * u[e][i][j][m + 2];
            s1_1 += u[e][i][m + 2][k] * Dt[j][m + 2];
            s0_1 += D[m + 3][k] * u[e][i][j][m + 3];
            s1_1 += u[e][i][m + 3][k] * Dt[j][m + 3];
            s0_1 += D[m + 4][k] * u[e][i][j][m + 4];
            s1_1 += u[e][i][m + 4][k] * Dt[j][m + 4];
            s0_1 += D[m + 5][k] * u[e][i][j][m + 5];
            s1_1 += u[e][i][m + 5][k] * Dt[j][m + 5];
            s0_1 += D[m + 6][k] * u[e][i][j][m + 6];
            s1_1 += u[e][i][m + 6][k] * Dt[j][m + 6];
            s0_1 += D[m + 7][k] * u[e][i][j][m + 7];
            s1_1 += u[e][i][m + 7][k] * Dt[j][m + 7];
            s0_1 += D[m + 8][k] * u[e][i][j][m + 8];
            s1_1 += u[e][i][m + 8][k] * Dt[j][m + 8];
            s0_1 += D[m + 9][k] * u[e][i][j][m + 9];
            s1_1 += u[e][i][m + 9][k] * Dt[j][m + 9];
          }
          ur[e][i][j][k] = s0_1;
          us[e][i][j][k] = s1_1;
        }
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++)
        for (int k = 0; k < 10; k++) {
          double s2_1 = ut[e][i][j][k];
          for (int m = 0; m < 10; m += 5) {
            s2_1 += u[e][m][j][k] * Dt[i][m];
            s2_1 += u[e][m + 1][j][k] * Dt[i][m + 1];
            s2_1 += u[e][m + 2][j][k] * Dt[i][m + 2];
            s2_1 += u[e][m + 3][j][k] * Dt[i][m + 3];
            s2_1 += u[e][m + 4][j][k] * Dt[i][m + 4];
          }
          ut[e][i][j][k] = s2_1;
        }
  }
  /*@ end @*/
}
