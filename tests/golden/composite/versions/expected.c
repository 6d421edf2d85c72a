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
  {
    const double *restrict x_r = x;
    double *restrict y_r = y;
    if (n == 64) {
      for (i = 0; i < 64; i += 2) {
        y_r[i] += x_r[i];
        y_r[i + 1] += x_r[i + 1];
      }
    } else {
      for (i = 0; n > 1 && i < n - 1; i += 2) {
        y_r[i] += x_r[i];
        y_r[i + 1] += x_r[i + 1];
      }
      for (; i < n; i++)
        y_r[i] += x_r[i];
    }
  }
  /*@ end @*/
  /*@ end @*/
}
