int kernel(int n, int m, double a[restrict n][m]);

int kernel(int n, int m, double a[restrict n][m]) {
  int i, j = 0;
  /*@ begin Loop(
    transform Coalesce(index='ij')
  ) @*/
  if (n > 0) {
    if (m > 0)
      for (long long ij = 0; ij < (long long)n * m; ij++) {
        i = (int)(ij / m);
        j = (int)(ij % m);
        {
          if (a[i][j] < 0)
            continue;
          a[i][j] -= 1;
        }
      }
    j = m > 0 ? m : 0;
  }
  i = n > 0 ? n : 0;
  /*@ end @*/
  return i + j;
}
