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
  for (i = 0; i < n; i++)
    s += x[i] * x[i];
  /*@ end @*/
  /*@ end @*/
  return s;
}
