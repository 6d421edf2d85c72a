void zero(int n, double a[n][n]);

void zero(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform BoundReplace(uprefix='last_')
  ) @*/
  for (i = 0; i <= n - 1; i++)
    for (j = 0; j <= n - 1; j++)
      a[i][j] = 0;
  /*@ end @*/
}
