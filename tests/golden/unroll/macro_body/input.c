#define X(k) x[n - 1 - k]

void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=2)
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = a * X(i);
  /*@ end @*/
}
