void kernel(int n, int w, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, int w, double a[restrict n][n], double b[restrict n][n]) {
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (int j = 0; j < n; j++)
    for (int i = j - w > w ? j - w : w; i < (j + w + 1 < n - w ? j + w + 1 : n - w); i++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
