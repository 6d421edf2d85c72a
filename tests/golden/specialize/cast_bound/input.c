void kernel(unsigned long n, double *y);

void kernel(unsigned long n, double *y) {
  unsigned long i;
  /*@ begin Loop(
    transform Specialize(on='n', values=[0, 13])
  ) @*/
  for (i = 0; i < (unsigned)n; i++)
    y[i] *= 0.5;
  /*@ end @*/
}
