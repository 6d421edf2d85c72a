void kernel(int n, double *restrict x, double *restrict y);

void kernel(int n, double *restrict x, double *restrict y) {
  int i;
  /*@ begin Loop(
    transform Composite(
      peel = [('i', 1, 1)],
      unrolljam = (['i'], [2])
    )
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = x[i] + (i == 0 ? 0.0 : 1.0);
  /*@ end @*/
}
