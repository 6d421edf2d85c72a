void kernel(int n, double *restrict x, double *restrict y, double *restrict z);

void kernel(int n, double *restrict x, double *restrict y, double *restrict z) {
  int i;
  /*@ begin Loop(
    transform Composite(
      fuse = [['i']],
      prefetch = [(True, 'x[i]', 16, 3)]
    )
  ) @*/
  for (i = 1; i < n; i++)
    y[i] = x[i] * 0.5; /* halves */
  for (i = 1; i < n; i++)
    z[i] = x[i] + 1.0;
  /*@ end @*/
}
