void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Specialize(aligned=['x', 'y'], alignment=64)
  ) @*/
  for (i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
}
