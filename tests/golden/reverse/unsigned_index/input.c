void kernel(unsigned n, double *restrict a, const double *restrict b);

void kernel(unsigned n, double *restrict a, const double *restrict b) {
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (unsigned i = 0; i < n; i++)
    a[i] = b[i + 1];
  /*@ end @*/
}
