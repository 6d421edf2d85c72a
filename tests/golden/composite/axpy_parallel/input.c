void kernel(int n, double *restrict y, const double *restrict x, double a);

void kernel(int n, double *restrict y, const double *restrict x, double a) {
  int i;
  /*@ begin Loop(
    transform Composite(unrolljam=(['i'], [4]), openmp=(True, 'omp parallel for'), vector=(True, 'ivdep'))
  ) @*/
  for (i = 0; i <= n - 1; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
}
