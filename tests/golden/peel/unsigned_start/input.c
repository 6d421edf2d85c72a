void kernel(unsigned long n, double *y);

void kernel(unsigned long n, double *y) {
  /*@ begin Loop(
    transform Peel(first=1, last=2)
  ) @*/
  for (unsigned long i = 0UL; i <= n; i++)
    y[i] = y[i] * 0.5;
  /*@ end @*/
}
