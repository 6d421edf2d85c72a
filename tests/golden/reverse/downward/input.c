void kernel(int n, double *restrict a, const double *restrict b);

void kernel(int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse(loop='i')
  ) @*/
  for (i = n - 1; i >= 0; i--)
    a[i] = b[i] * 2.0;
  /*@ end @*/
  a[0] += i;
}
