void axpy(int n, double a, double *restrict y, const double *restrict x);

void axpy(int n, double a, double *restrict y, const double *restrict x) {
  /*@ begin Loop(
    transform CUDA(threadCount=ITEMS)
  ) @*/
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
}
