void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]);

void kernel(int n, int m, double a[restrict n][m], double b[restrict m][n]) {
  int i, j;
  /*@ begin Loop(
    transform Coalesce(index='ij')
  ) @*/
  if (n > 0 && m > 0)
    for (long long ij = 0; ij < (long long)n * m; ij++) {
      i = (int)(ij / m);
      j = (int)(ij % m);
      a[i][j] = b[j][i];
    }
  /*@ end @*/
}
