void kernel(int n, double *restrict x, double *restrict y);

void kernel(int n, double *restrict x, double *restrict y) {
  int i;
  /*@ begin Loop(
    transform Composite(
      peel = [('i', 1, 1)],
      unrolljam = (['i'], [2])
    )
  ) @*/
  if (n > 1) {
    {
      const int i = 0;
      y[i] = x[i] + (i == 0 ? 0.0 : 1.0);
    }
    for (i = 1; n - 1 > 2 && i < n - 2; i += 2) {
      y[i] = x[i] + (i == 0 ? 0.0 : 1.0);
      y[i + 1] = x[i + 1] + (i + 1 == 0 ? 0.0 : 1.0);
    }
    for (; i < n - 1; i++)
      y[i] = x[i] + (i == 0 ? 0.0 : 1.0);
    y[n - 1] = x[n - 1] + (n - 1 == 0 ? 0.0 : 1.0);
  } else {
    for (i = 0; n > 1 && i < n - 1; i += 2) {
      y[i] = x[i] + (i == 0 ? 0.0 : 1.0);
      y[i + 1] = x[i + 1] + (i + 1 == 0 ? 0.0 : 1.0);
    }
    for (; i < n; i++)
      y[i] = x[i] + (i == 0 ? 0.0 : 1.0);
  }
  /*@ end @*/
}
