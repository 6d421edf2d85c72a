double triangle(int n, int m, double a[n][2 * n + m]);

double triangle(int n, int m, double a[n][2 * n + m]) {
  int i, j;
  double s = 0;
  /*@ begin Loop(
    transform BoundReplace()
  ) @*/
  for (i = 0; i <= n - 1; i++)
    for (j = i * 2; j < 2 * i + m; j++)
      s += a[i][j];
  /*@ end @*/
  return s;
}
