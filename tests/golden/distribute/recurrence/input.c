void kernel(int n, double *restrict a, const double *restrict b, double *restrict c);

void kernel(int n, double *restrict a, const double *restrict b, double *restrict c) {
  int i;
  /*@ begin Loop(
    transform Distribute()
  ) @*/
  for (i = 1; i < n; i++) {
    // a recurrence
    a[i] = a[i - 1] * 0.5 + b[i];
    // and a loop that can run in parallel
    c[i] = a[i] * a[i];
  }
  /*@ end @*/
}
