void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Specialize(on='n', values=[S, 2 * S])
  ) @*/
  if (n == 64) {
    for (i = 0; i <= 63; i++)
      y[i] += a * x[i + 64];
  } else if (n == 128) {
    for (i = 0; i <= 127; i++)
      y[i] += a * x[i + 128];
  } else {
    for (i = 0; i <= n - 1; i++)
      y[i] += a * x[i + n];
  }
  /*@ end @*/
}
