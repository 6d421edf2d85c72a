void kernel(int n, double *y, const double *x);

void kernel(int n, double *y, const double *x) {
  int i;
  /*@ begin Loop(
    transform Peel(first=1)
  ) @*/
  if (n > 0) {
    {
      const int i = 0;
      y[i] = i > 0 ? x[i] - x[i - 1] : x[i];
    }
    for (i = 1; i < n; i++)
      y[i] = i > 0 ? x[i] - x[i - 1] : x[i];
  }
  /*@ end @*/
}
