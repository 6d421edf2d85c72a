#define N 100
int i, j, ii, jj;
double a[N][N], x[N], y[N];
void rows(void) {
  /*@ begin Loop(
    transform Composite(
      tile = [('i', 8, 'ii'), ('j', 32, 'jj')],
      unrolljam = (['i', 'j'], [2, 1]))
    for (i = 0; i <= N - 1; i++)
      for (j = 0; j <= N - 1; j++)
        x[i] = x[i] + a[i][j] * y[j];
  ) @*/
  for (int ii = 0; ii <= N - 1; ii += 8) {
    const int i_stop = N - 1 - ii < 8 ? N - 1 : ii + 7;
    int i;
    for (i = ii; i_stop >= ii && i_stop - ii >= 1 && i <= i_stop - 1; i += 2) {
      for (int jj = 0; jj <= N - 1; jj += 32) {
        for (int j = jj; j <= (N - 1 - jj < 32 ? N - 1 : jj + 31); j++) {
          x[i] = x[i] + a[i][j] * y[j];
          x[i + 1] = x[i + 1] + a[i + 1][j] * y[j];
        }
      }
    }
    for (; i <= i_stop; i++)
      for (int jj = 0; jj <= N - 1; jj += 32)
        for (int j = jj; j <= (N - 1 - jj < 32 ? N - 1 : jj + 31); j++)
          x[i] = x[i] + a[i][j] * y[j];
  }
  if (N > 0) {
    j = N > 0 ? N : 0;
  }
  i = N > 0 ? N : 0;
  /*@ end @*/
}
