/* y = A x: the body of the parallel loop is a single loop. */
void mat_vec(int n, int m, const double *restrict A, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = range(14,113,14);
      constraint threads = TC * BC <= 16384;
      param UIF[] = range(1,6);
      param PL[] = [16,48];
      param CFLAGS[] = ['-O3', '-O3 -use_fast_math'];
    }
    def build { arg build_command = 'nvcc -arch=sm_90 @CFLAGS'; }
    def input_params { param n[] = [50]; param m[] = [40]; }
    def input_vars {
      decl dynamic double A[n*m] = random;
      decl dynamic double x[m] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, preferL1Size=PL, unrollInner=UIF)
    for (i=0; i<=n-1; i++)
      for (j=0; j<=m-1; j++)
        y[i] += A[i*m+j]*x[j];
  ) @*/
  for (i=0; i<=n-1; i++)
    for (j=0; j<=m-1; j++)
      y[i] += A[i*m+j]*x[j];
  /*@ end @*/
  /*@ end @*/
}
