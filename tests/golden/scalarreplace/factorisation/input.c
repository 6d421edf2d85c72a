void eliminate(int n, double a[n][n]);

void eliminate(int n, double a[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  for (k = 0; k < n; k++)
    for (i = k + 1; i < n; i++) {
      a[i][k] = a[i][k] / a[k][k];
      for (j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
    }
  /*@ end @*/
}
