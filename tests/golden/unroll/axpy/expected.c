void kernel(int n, double *y, const double *x, double a);

void kernel(int n, double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=UF)
  ) @*/
  for (i = 0; n - 1 >= 3 && i <= n - 4; i += 4) {
    y[i] = y[i] + a * x[i];
    y[i + 1] = y[i + 1] + a * x[i + 1];
    y[i + 2] = y[i + 2] + a * x[i + 2];
    y[i + 3] = y[i + 3] + a * x[i + 3];
  }
  for (; i <= n - 1; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
}
