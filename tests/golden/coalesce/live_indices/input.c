int kernel(int n, int m, double a[restrict n][m]);

int kernel(int n, int m, double a[restrict n][m]) {
  int i, j = 0;
  /*@ begin Loop(
    transform Coalesce(index='ij')
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      if (a[i][j] < 0)
        continue;
      a[i][j] -= 1;
    }
  /*@ end @*/
  return i + j;
}
