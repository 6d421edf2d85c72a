double kernel(int n, const double *x, const double *y);

double kernel(int n, const double *x, const double *y) {
  int i;
  double s = 0.0;
  /*@ begin Loop(
    transform UnrollReduction(ufactor=4, force=True)
  ) @*/
  for (i = 0; i < n; i++)
    s += x[i] * y[i];
  /*@ end @*/
  return s;
}
