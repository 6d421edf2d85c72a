void kernel(unsigned short n, double *y);

void kernel(unsigned short n, double *y) {
  unsigned short k;
  /*@ begin Loop(
    transform Peel(first=1)
  ) @*/
  {
    const int k_first = 0;
    y[k_first] = y[k_first] + 1.0;
    for (k = k_first + 1; k <= +n; k++)
      y[k] = y[k] + 1.0;
  }
  /*@ end @*/
}
