void smooth(int n, double y[n][n], float x[8][8]);

void smooth(int n, double y[n][n], float x[8][8]) {
  int t, i, j;
  /*@ begin Loop(
    transform ArrCopy(aref='x[i][j]', dimsizes=[8, 8], suffix='_local', force=True)
  ) @*/
  {
    float x_local[8][8];
    if (n > 0)
      for (int i_copy = 0; i_copy < 8; i_copy++)
        for (int j_copy = 0; j_copy <= 7; j_copy++)
          x_local[i_copy][7 - j_copy] = x[i_copy][j_copy];
    for (t = 0; t < n; t++)
      for (i = 1; i < 7; i++)
        for (j = 6; j > 0; j--)
          y[t][i] += x_local[i - 1][7 - j] + x_local[i + 1][7 - j] + x_local[i][8 - j] + x_local[i][6 - j];
  }
  /*@ end @*/
}
