void kernel(int n, double *restrict a, const double *restrict b);

void kernel(int n, double *restrict a, const double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse(loop='i')
  ) @*/
  for (i = 0; i < n; i++)
    a[i] = b[i] * 2.0;
  i = n - 1 >= 0 ? -1 : n - 1;
  /*@ end @*/
  a[0] += i;
}
