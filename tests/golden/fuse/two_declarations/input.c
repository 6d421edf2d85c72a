void kernel(int n, double *restrict a, double *restrict b, const double *restrict c);

void kernel(int n, double *restrict a, double *restrict b, const double *restrict c) {
  /*@ begin Loop(
    transform Fuse()
  ) @*/
  for (int i = 1; i <= n; i++) {
    double t = c[i];
    a[i] = t * t;
  }
  for (int k = 1; k <= n; k++) {
    double t = a[k - 1];
    b[k] = t + 1;
  }
  /*@ end @*/
}
