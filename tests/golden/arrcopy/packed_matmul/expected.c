void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]);

void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform ArrCopy(aref='b[k][j]', dimsizes=[T, T])
    transform Composite(
      tile = [('i', T, 'ii'), ('j', T, 'jj'), ('k', T, 'kk')],
      permut = [['jj', 'kk', 'ii', 'i', 'k', 'j']])
  ) @*/
  for (int jj = 0; jj < n; jj += 32)
    for (int kk = 0; kk < n; kk += 32) {
      double b_buf[32][32];
      for (int k_copy = kk; k_copy < (n - kk < 32 ? n : kk + 32); k_copy++)
        for (int j_copy = jj; j_copy < (n - jj < 32 ? n : jj + 32); j_copy++)
          b_buf[k_copy - kk][j_copy - jj] = b[k_copy][j_copy];
      for (int ii = 0; ii < n; ii += 32)
        for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
          for (k = kk; k < (n - kk < 32 ? n : kk + 32); k++)
            for (j = jj; j < (n - jj < 32 ? n : jj + 32); j++)
              c[i][j] += a[i][k] * b_buf[k - kk][j - jj];
    }
  /*@ end @*/
}
