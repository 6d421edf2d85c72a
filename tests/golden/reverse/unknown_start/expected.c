void kernel(int m, int n, double *restrict a, const double *restrict b);

void kernel(int m, int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (i = n + 1; i > m; i--)
    a[i - 1] = b[i - 1];
  /*@ end @*/
}
