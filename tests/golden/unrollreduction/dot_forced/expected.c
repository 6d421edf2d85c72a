double kernel(int n, const double *x, const double *y);

double kernel(int n, const double *x, const double *y) {
  int i;
  double s = 0.0;
  /*@ begin Loop(
    transform UnrollReduction(ufactor=4, force=True)
  ) @*/
  {
    double s_1 = 0.0;
    double s_2 = 0.0;
    double s_3 = 0.0;
    for (i = 0; n > 3 && i < n - 3; i += 4) {
      s += x[i] * y[i];
      s_1 += x[i + 1] * y[i + 1];
      s_2 += x[i + 2] * y[i + 2];
      s_3 += x[i + 3] * y[i + 3];
    }
    s += s_1 + s_2 + s_3;
    for (; i < n; i++)
      s += x[i] * y[i];
  }
  /*@ end @*/
  return s;
}
