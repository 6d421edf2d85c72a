void zero(int n, double a[n][n]);

void zero(int n, double a[n][n]) {
  int i, j;
  /*@ begin Loop(
    transform BoundReplace(uprefix='last_')
  ) @*/
  {
    const int last_1 = n - 1;
    for (i = 0; i <= last_1; i++)
      for (j = 0; j <= last_1; j++)
        a[i][j] = 0;
  }
  /*@ end @*/
}
