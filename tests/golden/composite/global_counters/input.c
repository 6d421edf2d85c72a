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
  /*@ end @*/
}
