void kernel(int n, double *restrict x, double *restrict y, double *restrict z);

void kernel(int n, double *restrict x, double *restrict y, double *restrict z) {
  int i;
  /*@ begin Loop(
    transform Composite(
      distribute = ['i'],
      reverse = ['i']
    )
  ) @*/
  for (i = n - 1; i >= 0; i--) {
    y[i] = x[i] * 0.5; /* halves */
  }
  for (i = n - 1; i >= 0; i--)
    z[i] = y[i] + 1.0;
  /*@ end @*/
}
