#define N 14
int i, j, k;
double A[N][N], B[N][N], C[N][N];
void kernel(int n);

void kernel(int n) {
  /*@ begin Loop(
    transform Composite(
      unrolljam = (['j'], [2]),
      regtile = (['i', 'j', 'k'], [2, 1, 2])
    )
  ) @*/
  for (i = 0; i <= n - 1; i++)
    for (j = 0; j <= n - 1; j++)
      for (k = 0; k <= n - 1; k++)
        C[i][j] = C[i][j] + A[i][k] * B[k][j];
  /*@ end @*/
}
