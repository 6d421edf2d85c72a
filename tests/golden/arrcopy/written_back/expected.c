void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]);

void matmul(int n, double c[restrict n][n], double a[n][n], double b[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform ArrCopy(aref='c[i][j]', dimsizes=[T, T])
    transform Composite(
      tile = [('i', T, 'ii'), ('j', T, 'jj'), ('k', T, 'kk')],
      permut = [['jj', 'kk', 'ii', 'i', 'k', 'j']])
  ) @*/
  for (int jj = 0; jj < n; jj += 16)
    for (int kk = 0; kk < n; kk += 16)
      for (int ii = 0; ii < n; ii += 16) {
        double c_buf[16][16];
        for (int i_copy = ii; i_copy < (n - ii < 16 ? n : ii + 16); i_copy++)
          for (int j_copy = jj; j_copy < (n - jj < 16 ? n : jj + 16); j_copy++)
            c_buf[i_copy - ii][j_copy - jj] = c[i_copy][j_copy];
        for (i = ii; i < (n - ii < 16 ? n : ii + 16); i++)
          for (k = kk; k < (n - kk < 16 ? n : kk + 16); k++)
            for (j = jj; j < (n - jj < 16 ? n : jj + 16); j++)
              c_buf[i - ii][j - jj] += a[i][k] * b[k][j];
        for (int i_copy = ii; i_copy < (n - ii < 16 ? n : ii + 16); i_copy++)
          for (int j_copy = jj; j_copy < (n - jj < 16 ? n : jj + 16); j_copy++)
            c[i_copy][j_copy] = c_buf[i_copy - ii][j_copy - jj];
      }
  /*@ end @*/
}
