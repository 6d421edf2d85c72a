void kernel(long n, double *y);

void kernel(long n, double *y) {
  unsigned i;
  /*@ begin Loop(
    transform Specialize(on='n', values=[0, 13])
  ) @*/
  if (n == 0L) {
    for (i = 1; n - 1 > i; i++)
      y[i] = y[i - 1] * 0.5;
  } else if (n == 13L) {
    for (i = 1; 13L - 1 > i; i++)
      y[i] = y[i - 1] * 0.5;
  } else {
    for (i = 1; n - 1 > i; i++)
      y[i] = y[i - 1] * 0.5;
  }
  /*@ end @*/
}
