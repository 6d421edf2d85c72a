void kernel(unsigned long n, double *y);

void kernel(unsigned long n, double *y) {
  /*@ begin Loop(
    transform Peel(first=1, last=2)
  ) @*/
  if (n - 0UL >= 2) {
    const unsigned long i_first = 0UL;
    y[i_first] = y[i_first] * 0.5;
    for (unsigned long i = i_first + 1; i < n - 1; i++)
      y[i] = y[i] * 0.5;
    y[n - 1] = y[n - 1] * 0.5;
    y[n] = y[n] * 0.5;
  } else
    for (unsigned long i = 0UL; i <= n; i++)
      y[i] = y[i] * 0.5;
  /*@ end @*/
}
