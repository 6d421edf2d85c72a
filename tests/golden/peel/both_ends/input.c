int kernel(int n, double *y, const double *x, double a);

int kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Peel(first=F, last=L)
  ) @*/
  for (i = 0; i <= n - 1; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
  return i;
}
