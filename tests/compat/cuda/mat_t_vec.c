/* y = A' x, along columns, so that neighbouring threads read neighbouring elements. */
void mat_t_vec(int n, int m, const double *restrict A, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = range(14,113,14);
      constraint threads = TC * BC <= 16384;
      param SC[] = [1,2,3];
    }
    def input_params { param n[] = [50]; param m[] = [40]; }
    def input_vars {
      decl dynamic double A[n*m] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[m] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, streamCount=SC)
    for (j=0; j<=m-1; j++) {
      y[j] = 0;
      for (i=0; i<=n-1; i++)
        y[j] = y[j] + A[i*m+j]*x[i];
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
