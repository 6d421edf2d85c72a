int kernel(int n, int *restrict y, int a[restrict n][n]);

int kernel(int n, int *restrict y, int a[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i'], ufactors=[2])
  ) @*/
  if (n - 1 >= 0) {
    for (i = n - 1; i >= 2; i -= 4) {
      const int newub_j = n - 1 > i ? i + (n - 1 - i - 1) % 2 - 1 : n - 1;
      for (j = n - 1; j > newub_j; j -= 2) {
        y[j] += a[i][j];
        y[j] += a[i - 2][j];
      }
      for (j = newub_j; j > i - 2; j -= 2)
        y[j] += a[i - 2][j];
    }
    for (; i >= 0; i -= 2)
      for (j = n - 1; j > i; j -= 2)
        y[j] += a[i][j];
    j = n - 1 > (n - 1) % 2 ? (n - 1) % 2 + (n - 1 - (n - 1) % 2 - 1) % 2 - 1 : n - 1;
  }
  i = n - 1 >= 0 ? (n - 1) % 2 - 2 : n - 1;
  /*@ end @*/
  return i + j;
}
