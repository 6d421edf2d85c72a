void kernel(unsigned n, double *restrict a, const double *restrict b);

void kernel(unsigned n, double *restrict a, const double *restrict b) {
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (unsigned i = n; i > 0; i--)
    a[i - 1] = b[i];
  /*@ end @*/
}
