void smooth(int n, double y[n][n], float x[8][8]);

void smooth(int n, double y[n][n], float x[8][8]) {
  int t, i, j;
  /*@ begin Loop(
    transform ArrCopy(aref='x[i][j]', dimsizes=[8, 8], suffix='_local', force=True)
  ) @*/
  for (t = 0; t < n; t++)
    for (i = 1; i < 7; i++)
      for (j = 6; j > 0; j--)
        y[t][i] += x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1];
  /*@ end @*/
}
