void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Specialize(on='n', values=[S, 2 * S])
  ) @*/
  for (i = 0; i <= n - 1; i++)
    y[i] += a * x[i + n];
  /*@ end @*/
}
