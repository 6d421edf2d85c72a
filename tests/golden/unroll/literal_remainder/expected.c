void kernel(double *y, const double *x, double a);

void kernel(double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=4)
  ) @*/
  for (i = 2; i <= 8; i += 4) {
    y[i] = a * x[i];
    y[i + 1] = a * x[i + 1];
    y[i + 2] = a * x[i + 2];
    y[i + 3] = a * x[i + 3];
  }
  for (; i <= 11; i++)
    y[i] = a * x[i];
  /*@ end @*/
}
