void kernel(unsigned n, double *restrict a, double *restrict b, double *restrict c);

void kernel(unsigned n, double *restrict a, double *restrict b, double *restrict c) {
  /*@ begin Loop(
    transform Fuse()
  ) @*/
  for (unsigned i = n; i >= 4; i -= 2) {
    a[i] = b[i] * 0.5;
    double t = a[i]; /* written just before */
    c[i] = t * t;
  }
  /*@ end @*/
}
