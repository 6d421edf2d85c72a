void kernel(int n, double *restrict a);

void kernel(int n, double *restrict a) {
  int i;
  /*@ begin Loop(
    transform Vectorize()
  ) @*/
  for (i = n - 1; i >= 8; i--)
    a[i - 8] = a[i] * 0.5;
  /*@ end @*/
}
