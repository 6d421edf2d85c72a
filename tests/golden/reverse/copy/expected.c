void kernel(int n, double *restrict a, const double *restrict b);

void kernel(int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (i = n - 1; i >= 0; i--)
    a[i] = b[i];
  /*@ end @*/
}
