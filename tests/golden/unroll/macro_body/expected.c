#define X(k) x[n - 1 - k]

void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=2)
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    y[i] = a * x[n - 1 - i];
    y[i + 1] = a * x[n - 1 - (i + 1)];
  }
  for (; i < n; i++)
    y[i] = a * x[n - 1 - i];
  /*@ end @*/
}
