void kernel(int n, double *restrict a, double *restrict b);

void kernel(int n, double *restrict a, double *restrict b) {
  int i;
  /*@ begin Loop(
    transform Reverse()
  ) @*/
  for (i = 0; i < n; i += 4) {
    a[i] = b[i];
    b[i + 1] = b[i + 2];
  }
  /*@ end @*/
}
