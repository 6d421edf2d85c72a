void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  (void)n;
  /*@ begin Loop(
    transform Peel(last=1)
  ) @*/
  for (int i = 0; i < 8; i += 3) {
    const double t = a * x[i];
    y[i] = y[i] + t;
  }
  /*@ end @*/
}
