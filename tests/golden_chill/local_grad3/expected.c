#define nelt 1000
#define lx 10

void local_grad3(double *restrict ur, double *restrict us, double *restrict ut, const double *restrict u,
                 const double *restrict D, const double *restrict Dt);

void local_grad3(double *restrict ur, double *restrict us, double *restrict ut, const double *restrict u,
                 const double *restrict D, const double *restrict Dt) {
  int e, i, j, k, m;
  /*@ begin CHiLL(
    UF0[] = [1, 2, 5, 10];
    UF2[] = [1, 2, 5, 10];
    distribute({0, 1, 2}, 1)
    registers(0, "m") registers(1, "m") registers(2, "m")
    fuse(0, 1)
    unroll(0, "m", UF0)
    unroll(2, "m", UF2)
  ) @*/
  for (e = 0; e < nelt; e++)
    for (i = 0; i < lx; i++)
      for (j = 0; j < lx; j++)
        for (k = 0; k < lx; k++) {
          double s0_1 = ur[k + lx * (j + lx * (i + lx * e))];
          double s1_1 = us[k + lx * (j + lx * (i + lx * e))];
          for (m = 0; lx > 4 && m < lx - 4; m += 5) {
            s0_1 += D[k + lx * m] * u[m + lx * (j + lx * (i + lx * e))];
            s1_1 += u[k + lx * (m + lx * (i + lx * e))] * Dt[m + lx * j];
            s0_1 += D[k + lx * (m + 1)] * u[m + 1 + lx * (j + lx * (i + lx * e))];
            s1_1 += u[k + lx * (m + 1 + lx * (i + lx * e))] * Dt[m + 1 + lx * j];
            s0_1 += D[k + lx * (m + 2)] * u[m + 2 + lx * (j + lx * (i + lx * e))];
            s1_1 += u[k + lx * (m + 2 + lx * (i + lx * e))] * Dt[m + 2 + lx * j];
            s0_1 += D[k + lx * (m + 3)] * u[m + 3 + lx * (j + lx * (i + lx * e))];
            s1_1 += u[k + lx * (m + 3 + lx * (i + lx * e))] * Dt[m + 3 + lx * j];
            s0_1 += D[k + lx * (m + 4)] * u[m + 4 + lx * (j + lx * (i + lx * e))];
            s1_1 += u[k + lx * (m + 4 + lx * (i + lx * e))] * Dt[m + 4 + lx * j];
          }
          for (; m < lx; m++) {
            s0_1 += D[k + lx * m] * u[m + lx * (j + lx * (i + lx * e))];
            s1_1 += u[k + lx * (m + lx * (i + lx * e))] * Dt[m + lx * j];
          }
          ur[k + lx * (j + lx * (i + lx * e))] = s0_1;
          us[k + lx * (j + lx * (i + lx * e))] = s1_1;
        }
  for (e = 0; e < nelt; e++)
    for (i = 0; i < lx; i++)
      for (j = 0; j < lx; j++)
        for (k = 0; k < lx; k++) {
          double s2_1 = ut[k + lx * (j + lx * (i + lx * e))];
          for (m = 0; lx > 1 && m < lx - 1; m += 2) {
            s2_1 += u[k + lx * (j + lx * (m + lx * e))] * Dt[m + lx * i];
            s2_1 += u[k + lx * (j + lx * (m + 1 + lx * e))] * Dt[m + 1 + lx * i];
          }
          for (; m < lx; m++)
            s2_1 += u[k + lx * (j + lx * (m + lx * e))] * Dt[m + lx * i];
          ut[k + lx * (j + lx * (i + lx * e))] = s2_1;
        }
  /*@ end @*/
}
