/* y = A' (A x): two loops, the second of which reads what the first one wrote. */
void atax(int n, const double *restrict A, const double *restrict x, double *restrict t, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = range(14,113,14);
      constraint threads = TC * BC <= 16384;
      param DEV[] = [False,True];
    }
    def input_params { param n[] = [40]; }
    def input_vars {
      decl dynamic double A[n*n] = random;
      decl dynamic double x[n] = random;
      decl dynamic double t[n] = 0;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, dataOnDevice=DEV)
    for (i=0; i<=n-1; i++) {
      t[i] = 0.0;
      for (j=0; j<=n-1; j++)
        t[i] = t[i] + A[i*n+j]*x[j];
    }
  ) @*/
  /*@ end @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, dataOnDevice=DEV)
    for (j=0; j<=n-1; j++) {
      y[j] = 0.0;
      for (i=0; i<=n-1; i++)
        y[j] = y[j] + A[i*n+j]*t[i];
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
