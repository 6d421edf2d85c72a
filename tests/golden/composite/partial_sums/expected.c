double kernel(int n, const double *x);

double kernel(int n, const double *x) {
  int i;
  double s = 0.0;
  /*@ begin PerfTuning(
    def assumptions {
      arg reassociate = True;
    }
  ) @*/
  /*@ begin Loop(
    transform Composite(
      unrollreduction = (['i'], [4])
    )
  ) @*/
  {
    double s_1 = 0.0;
    double s_2 = 0.0;
    double s_3 = 0.0;
    for (i = 0; n > 3 && i < n - 3; i += 4) {
      s += x[i] * x[i];
      s_1 += x[i + 1] * x[i + 1];
      s_2 += x[i + 2] * x[i + 2];
      s_3 += x[i + 3] * x[i + 3];
    }
    s += s_1 + s_2 + s_3;
    for (; i < n; i++)
      s += x[i] * x[i];
  }
  /*@ end @*/
  /*@ end @*/
  return s;
}
