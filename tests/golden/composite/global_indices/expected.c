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
  {
    int i_last = 0;
    if (i_last <= n - 1 && n - 1 - i_last >= 1)
      i_last += (n - 1 - i_last - 1) / 2 * 2 + 2;
    for (i = 0; i < i_last; i += 2) {
      int j_last = 0;
      if (j_last <= n - 1 && n - 1 - j_last >= 1)
        j_last += (n - 1 - j_last - 1) / 2 * 2 + 2;
      for (j = 0; j < j_last; j += 2) {
        int k_last = 0;
        if (k_last <= n - 1 && n - 1 - k_last >= 1)
          k_last += (n - 1 - k_last - 1) / 2 * 2 + 2;
        for (k = 0; k < k_last; k += 2) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i + 1][j] = C[i + 1][j] + A[i + 1][k] * B[k][j];
          C[i][j + 1] = C[i][j + 1] + A[i][k] * B[k][j + 1];
          C[i + 1][j + 1] = C[i + 1][j + 1] + A[i + 1][k] * B[k][j + 1];
          C[i][j] = C[i][j] + A[i][k + 1] * B[k + 1][j];
          C[i + 1][j] = C[i + 1][j] + A[i + 1][k + 1] * B[k + 1][j];
          C[i][j + 1] = C[i][j + 1] + A[i][k + 1] * B[k + 1][j + 1];
          C[i + 1][j + 1] = C[i + 1][j + 1] + A[i + 1][k + 1] * B[k + 1][j + 1];
        }
        for (k = k_last; k <= n - 1; k++) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i + 1][j] = C[i + 1][j] + A[i + 1][k] * B[k][j];
          C[i][j + 1] = C[i][j + 1] + A[i][k] * B[k][j + 1];
          C[i + 1][j + 1] = C[i + 1][j + 1] + A[i + 1][k] * B[k][j + 1];
        }
      }
      for (j = j_last; j <= n - 1; j++) {
        int k_last = 0;
        if (k_last <= n - 1 && n - 1 - k_last >= 1)
          k_last += (n - 1 - k_last - 1) / 2 * 2 + 2;
        for (k = 0; k < k_last; k += 2) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i + 1][j] = C[i + 1][j] + A[i + 1][k] * B[k][j];
          C[i][j] = C[i][j] + A[i][k + 1] * B[k + 1][j];
          C[i + 1][j] = C[i + 1][j] + A[i + 1][k + 1] * B[k + 1][j];
        }
        for (k = k_last; k <= n - 1; k++) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i + 1][j] = C[i + 1][j] + A[i + 1][k] * B[k][j];
        }
      }
    }
    for (i = i_last; i <= n - 1; i++) {
      int j_last = 0;
      if (j_last <= n - 1 && n - 1 - j_last >= 1)
        j_last += (n - 1 - j_last - 1) / 2 * 2 + 2;
      for (j = 0; j < j_last; j += 2) {
        int k_last = 0;
        if (k_last <= n - 1 && n - 1 - k_last >= 1)
          k_last += (n - 1 - k_last - 1) / 2 * 2 + 2;
        for (k = 0; k < k_last; k += 2) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i][j + 1] = C[i][j + 1] + A[i][k] * B[k][j + 1];
          C[i][j] = C[i][j] + A[i][k + 1] * B[k + 1][j];
          C[i][j + 1] = C[i][j + 1] + A[i][k + 1] * B[k + 1][j + 1];
        }
        for (k = k_last; k <= n - 1; k++) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i][j + 1] = C[i][j + 1] + A[i][k] * B[k][j + 1];
        }
      }
      for (j = j_last; j <= n - 1; j++) {
        int k_last = 0;
        if (k_last <= n - 1 && n - 1 - k_last >= 1)
          k_last += (n - 1 - k_last - 1) / 2 * 2 + 2;
        for (k = 0; k < k_last; k += 2) {
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
          C[i][j] = C[i][j] + A[i][k + 1] * B[k + 1][j];
        }
        for (k = k_last; k <= n - 1; k++)
          C[i][j] = C[i][j] + A[i][k] * B[k][j];
      }
    }
  }
  /*@ end @*/
}
