/* A sum in a loop that writes an array, too. */
void vec_sum_and_store(int n, double a, const double *restrict x, double *restrict y, double *restrict found)
{
  double s = found[0];
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = [3,14,70];
      constraint threads = TC * BC <= 16384;
    }
    def input_params { param n[] = [900]; }
    def input_vars {
      decl double a = random;
      decl double s = 0.25;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC)
    for (i=0; i<=n-1; i++) {
      y[i] = y[i] - a*x[i];
      s = s + y[i]*y[i];
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
  found[0] = s;
}
