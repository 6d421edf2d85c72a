void kernel(int m, int n, double *restrict a, const double *restrict b);

void kernel(int m, int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (i = m; i <= n; i++)
    a[i] = b[i];
  /*@ end @*/
}
