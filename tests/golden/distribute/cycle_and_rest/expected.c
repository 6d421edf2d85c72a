void kernel(long n, double *restrict a, double *restrict b, double *restrict c, double *restrict d);

void kernel(long n, double *restrict a, double *restrict b, double *restrict c, double *restrict d) {
  /*@ begin Loop(
    transform Distribute()
  ) @*/
  for (long i = n - 1; i > 0; i--) {
    double t = b[i];
    a[i] = t * t;
  }
  for (long i = n - 1; i > 0; i--)
    b[i] = 0;
  for (long i = n - 1; i > 0; i--)
    d[i] = a[i];
  for (long i = n - 1; i > 0; i--)
    c[i] = d[i + 1];
  /*@ end @*/
}
