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
  for (int k = 0; k <= N - 1; k++) {
    for (j = k + 1; j <= N - 1; j++)
      A[k][j] = A[k][j] / A[k][k];
    {
      int i;
      for (i = k + 1; N - 1 >= k + 1 && N - 1 - (k + 1) >= 1 && i <= N - 2; i += 2) {
        for (int jj = k + 1; jj <= N - 1; jj += 32) {
          for (int j = jj; j <= (N - 1 - jj < 32 ? N - 1 : jj + 31); j++) {
            A[i][j] = A[i][j] - A[i][k] * A[k][j];
            A[i + 1][j] = A[i + 1][j] - A[i + 1][k] * A[k][j];
          }
        }
      }
      for (; i <= N - 1; i++)
        for (int jj = k + 1; jj <= N - 1; jj += 32)
          for (int j = jj; j <= (N - 1 - jj < 32 ? N - 1 : jj + 31); j++)
            A[i][j] = A[i][j] - A[i][k] * A[k][j];
    }
    if (k + 1 < N) {
      j = k + 1 < N ? N : k + 1;
    }
  }
  if (N > 0) {
    i = N < N ? N : N;
  }
  k = N > 0 ? N : 0;
  /*@ end @*/
}
