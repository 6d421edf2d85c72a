void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      tile = [('j', 64, 'jj'), ('k', 32, 'kk')],
      permut = [['jj', 'kk', 'i', 'k', 'j']],
      arrcopy = [(COPY, 'b[k][j]', [32, 64])],
      unrolljam = (['i', 'k'], [2, 2]),
      scalarreplace = (True, 'double')
    )
  ) @*/
  for (int jj = 0; jj < n; jj += 64)
    for (int kk = 0; kk < n; kk += 32) {
      double b_buf[32][64];
      for (int k_copy = kk; k_copy < (n - kk < 32 ? n : kk + 32); k_copy++)
        for (int j_copy = jj; j_copy < (n - jj < 64 ? n : jj + 64); j_copy++)
          b_buf[k_copy - kk][j_copy - jj] = b[k_copy][j_copy];
      for (i = 0; n > 1 && i < n - 1; i += 2) {
        const int k_stop = n - kk < 32 ? n : kk + 32;
        for (k = kk; k_stop > kk && k_stop - kk > 1 && k < k_stop - 1; k += 2) {
          const double scv_1 = a[i][k];
          const double scv_2 = a[i + 1][k];
          const double scv_3 = a[i][k + 1];
          const double scv_4 = a[i + 1][k + 1];
          for (j = jj; j < (n - jj < 64 ? n : jj + 64); j++) {
            double scv_5 = c[i][j];
            scv_5 += scv_1 * b_buf[k - kk][j - jj];
            double scv_6 = c[i + 1][j];
            scv_6 += scv_2 * b_buf[k - kk][j - jj];
            scv_5 += scv_3 * b_buf[k + 1 - kk][j - jj];
            c[i][j] = scv_5;
            scv_6 += scv_4 * b_buf[k + 1 - kk][j - jj];
            c[i + 1][j] = scv_6;
          }
        }
        for (; k < k_stop; k++) {
          const double scv_7 = a[i][k];
          const double scv_8 = a[i + 1][k];
          for (j = jj; j < (n - jj < 64 ? n : jj + 64); j++) {
            c[i][j] += scv_7 * b_buf[k - kk][j - jj];
            c[i + 1][j] += scv_8 * b_buf[k - kk][j - jj];
          }
        }
      }
      for (; i < n; i++) {
        const int k_stop = n - kk < 32 ? n : kk + 32;
        for (k = kk; k_stop > kk && k_stop - kk > 1 && k < k_stop - 1; k += 2) {
          const double scv_9 = a[i][k];
          const double scv_10 = a[i][k + 1];
          for (j = jj; j < (n - jj < 64 ? n : jj + 64); j++) {
            double scv_11 = c[i][j];
            scv_11 += scv_9 * b_buf[k - kk][j - jj];
            scv_11 += scv_10 * b_buf[k + 1 - kk][j - jj];
            c[i][j] = scv_11;
          }
        }
        for (; k < k_stop; k++) {
          const double scv_12 = a[i][k];
          for (j = jj; j < (n - jj < 64 ? n : jj + 64); j++)
            c[i][j] += scv_12 * b_buf[k - kk][j - jj];
        }
      }
    }
  /*@ end @*/
}
