void kernel(int n, int w, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, int w, double a[restrict n][n], double b[restrict n][n]) {
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (int i = w; i < n - w; i++)
    for (int j = i - w; j <= i + w; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
