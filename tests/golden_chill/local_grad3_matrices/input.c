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
        for (int k = 0; k < 10; k++)
          for (int m = 0; m < 10; m++)
            ur[e][i][j][k] += D[m][k] * u[e][i][j][m];
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++)
        for (int k = 0; k < 10; k++)
          for (int m = 0; m < 10; m++)
            us[e][i][j][k] += u[e][i][m][k] * Dt[j][m];
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++)
        for (int k = 0; k < 10; k++)
          for (int m = 0; m < 10; m++)
            ut[e][i][j][k] += u[e][m][j][k] * Dt[i][m];
  }
  /*@ end @*/
}
