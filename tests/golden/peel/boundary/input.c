void kernel(int n, double *y, const double *x);

void kernel(int n, double *y, const double *x) {
  int i;
  /*@ begin Loop(
    transform Peel(first=1)
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = i > 0 ? x[i] - x[i - 1] : x[i];
  /*@ end @*/
}
