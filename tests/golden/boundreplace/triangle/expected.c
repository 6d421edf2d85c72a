double triangle(int n, int m, double a[n][2 * n + m]);

double triangle(int n, int m, double a[n][2 * n + m]) {
  int i, j;
  double s = 0;
  /*@ begin Loop(
    transform BoundReplace()
  ) @*/
  {
    const int ub_1 = n - 1;
    for (i = 0; i <= ub_1; i++) {
      const int lb_1 = i * 2;
      const int ub_2 = 2 * i + m;
      for (j = lb_1; j < ub_2; j++)
        s += a[i][j];
    }
  }
  /*@ end @*/
  return s;
}
