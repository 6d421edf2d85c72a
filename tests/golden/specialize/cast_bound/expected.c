void kernel(unsigned long n, double *y);

void kernel(unsigned long n, double *y) {
  unsigned long i;
  /*@ begin Loop(
    transform Specialize(on='n', values=[0, 13])
  ) @*/
  if (n == 0UL) {
    for (i = 0; i < (unsigned)n; i++)
      y[i] *= 0.5;
  } else if (n == 13UL) {
    for (i = 0; i < (unsigned)13UL; i++)
      y[i] *= 0.5;
  } else {
    for (i = 0; i < (unsigned)n; i++)
      y[i] *= 0.5;
  }
  /*@ end @*/
}
