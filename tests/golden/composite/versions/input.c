void kernel(int n, double *x, double *y);

void kernel(int n, double *x, double *y) {
  int i;
  /*@ begin PerfTuning(
    def assumptions {
      arg noalias = ['x', 'y'];
    }
  ) @*/
  /*@ begin Loop(
    transform Composite(
      unrolljam = (['i'], [2]),
      restrict = (True, ['x', 'y']),
      specialize = [('n', [64])]
    )
  ) @*/
  for (i = 0; i < n; i++)
    y[i] += x[i];
  /*@ end @*/
  /*@ end @*/
}
