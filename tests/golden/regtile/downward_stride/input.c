int kernel(int n, int *restrict y, int a[restrict n][n]);

int kernel(int n, int *restrict y, int a[restrict n][n]) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i'], ufactors=[2])
  ) @*/
  for (i = n - 1; i >= 0; i -= 2)
    for (j = n - 1; j > i; j -= 2)
      y[j] += a[i][j];
  /*@ end @*/
  return i + j;
}
