double kernel(int s, int n, double *restrict y, const double *restrict x);

double kernel(int s, int n, double *restrict y, const double *restrict x) {
  int i;
  double t = 0.0;
  /*@ begin Loop(
    transform Vectorize()
  ) @*/
  for (i = s; i <= n; i += 3) {
    t = x[i] * 0.5;
    y[i] = t;
  }
  /*@ end @*/
  return t + i;
}
