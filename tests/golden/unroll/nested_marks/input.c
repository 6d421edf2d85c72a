void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i, j;
  /*@ begin Loop(
    transform Unroll(ufactor=2)
    for (j = 0; j < n; j++)
      transform Unroll(ufactor=3)
      for (i = 0; i < n; i++)
        y[i] = y[i] + a * x[j];
  ) @*/
  for (j = 0; j < n; j++)
    for (i = 0; i < n; i++)
      y[i] = y[i] + a * x[j];
  /*@ end @*/
}
