void kernel(int n, double *restrict x, double *restrict y, double *restrict z);

void kernel(int n, double *restrict x, double *restrict y, double *restrict z) {
  int i;
  /*@ begin Loop(
    transform Composite(
      distribute = ['i'],
      reverse = ['i']
    )
  ) @*/
  for (i = 0; i < n; i++) {
    y[i] = x[i] * 0.5; /* halves */
    z[i] = y[i] + 1.0;
  }
  /*@ end @*/
}
