/* Steps in time around two parallel loops: the host calls two kernels per step; slices that need their neighbours. */
void jacobi_1d(int n, int steps, double *restrict x, double *restrict y)
{
  int t, i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,257,32);
      param SC[] = [1,2,3];
      param CB[] = [False,True];
      param PIN[] = [True,False];
    }
    def input_params { param n[] = [300]; param steps[] = [3]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  for (t = 0; t < steps; t++) {
    /*@ begin Loop(transform CUDA(threadCount=TC, streamCount=SC, cacheBlocks=CB, pinHostMem=PIN)
      for (i=1; i<=n-2; i++)
        y[i] = (x[i-1] + x[i] + x[i+1]) / 3;
    ) @*/
    /*@ end @*/
    /*@ begin Loop(transform CUDA(threadCount=TC, streamCount=SC)
      for (i=1; i<=n-2; i++)
        x[i] = y[i];
    ) @*/
    /*@ end @*/
  }
  /*@ end @*/
}
