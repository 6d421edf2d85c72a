void kernel(int n, double *restrict a, double *restrict b);

void kernel(int n, double *restrict a, double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (i = n > 0 ? (n - 1) / 4 * 4 : -4; i >= 0; i -= 4) {
    a[i] = b[i];
    b[i + 1] = b[i + 2];
  }
  /*@ end @*/
}
