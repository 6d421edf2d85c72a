void eliminate(int n, double a[n][n]);

void eliminate(int n, double a[n][n]) {
  int i, j, k;
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  for (k = 0; k < n; k++)
    if (k + 1 < n) {
      const double scv_1 = a[k][k];
      for (i = k + 1; i < n; i++) {
        double scv_2 = a[i][k];
        scv_2 = scv_2 / scv_1;
        for (j = k + 1; j < n; j++)
          a[i][j] -= scv_2 * a[k][j];
        a[i][k] = scv_2;
      }
    }
  /*@ end @*/
}
