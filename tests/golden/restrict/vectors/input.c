void kernel(int n, double *y, const double *c, const double *x);

void kernel(int n, double *y, const double *c, const double *x) {
  int i, j;
  /*@ begin Loop(
    transform Restrict(arrays=['y', 'c', 'x'], force=True)
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      y[i] += c[i * n + j] * x[j];
  /*@ end @*/
}
