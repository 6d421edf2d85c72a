void kernel(int n, double *restrict a, const double *restrict b);

void kernel(int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (i = 0; i < n; i++)
    a[i] = b[i];
  /*@ end @*/
}
