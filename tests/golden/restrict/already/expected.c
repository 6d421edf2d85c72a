void kernel(int n, double *restrict y, const double *restrict x);

void kernel(int n, double *restrict y, const double *restrict x) {
  int i;
  /*@ begin Loop(
    transform Restrict(arrays=['y', 'x'])
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = x[i];
  /*@ end @*/
}
