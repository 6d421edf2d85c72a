void kernel(unsigned short n, double *y);

void kernel(unsigned short n, double *y) {
  unsigned short k;
  /*@ begin Loop(
    transform Peel(first=1)
  ) @*/
  for (k = 0; k <= +n; k++)
    y[k] = y[k] + 1.0;
  /*@ end @*/
}
