void kernel(double *y, const double *x, double a);

void kernel(double *y, const double *x, double a) {
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=4)
  ) @*/
  for (i = 2; i <= 11; i++)
    y[i] = a * x[i];
  /*@ end @*/
}
