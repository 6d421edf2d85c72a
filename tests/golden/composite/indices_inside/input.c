#define N 60
int i, j, k;
double A[N][N];
void lu(void) {
  /*@ begin Loop(
    transform Composite(scalarreplace = (False, 'double'))
    for (k = 0; k <= N - 1; k++) {
      for (j = k + 1; j <= N - 1; j++)
        A[k][j] = A[k][j] / A[k][k];
      transform Composite(tile = [('j', 32, 'jj')], regtile = (['i', 'j'], [2, 1]))
      for (i = k + 1; i <= N - 1; i++)
        for (j = k + 1; j <= N - 1; j++)
          A[i][j] = A[i][j] - A[i][k] * A[k][j];
    }
  ) @*/
  /*@ end @*/
}
