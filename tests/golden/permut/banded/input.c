void kernel(int n, int w, double a[n][n], double b[n][n]);

void kernel(int n, int w, double a[n][n], double b[n][n]) {
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (int i = w; i < n - w; i++)
    for (int j = i - w; j <= i + w; j++)
      a[i][j] = b[j][i];
  /*@ end @*/
}
