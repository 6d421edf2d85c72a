void kernel(int n, double *restrict a, double *restrict b, const double *restrict c, double s);

void kernel(int n, double *restrict a, double *restrict b, const double *restrict c, double s) {
  /*@ begin Loop(
    transform Fuse()
  ) @*/
  for (int i = 0; i < n; i++) {
    a[i] = s * c[i];
    /* the second loop reads what the first wrote */
    b[i] = a[i] + c[i];
  }
  /*@ end @*/
}
