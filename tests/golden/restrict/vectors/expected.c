void kernel(int n, double *y, const double *c, const double *x);

void kernel(int n, double *y, const double *c, const double *x) {
  int i, j;
  /*@ begin Loop(
    transform Restrict(arrays=['y', 'c', 'x'], force=True)
  ) @*/
  {
    double *restrict y_r = y;
    const double *restrict c_r = c;
    const double *restrict x_r = x;
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        y_r[i] += c_r[i * n + j] * x_r[j];
  }
  /*@ end @*/
}
