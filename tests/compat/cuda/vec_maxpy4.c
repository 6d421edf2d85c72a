/* y = y + a1 x1 + … + a4 x4: several iterations per thread, and an inner loop that is unrolled on the device. */
void vec_maxpy4(int n, const double *restrict a, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def build { arg build_command = 'nvcc -arch=sm_80 @CFLAGS'; }
    def performance_params {
      param TC[] = range(32,513,32);
      param BC[] = [1,2,5,14,28];
      param UIF[] = range(1,6);
      param SP[] = ['strided','blocked'];
      param CO[] = [1,2,3,4];
      param CFLAGS[] = ['-O3', '-O3 -use_fast_math', '-maxrregcount=32'];
    }
    def input_params { param n[] = [200]; }
    def input_vars {
      decl dynamic double a[4] = random;
      decl dynamic double x[4*n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, unrollInner=UIF, spread=SP, coarsen=CO)
    for (i=0; i<=n-1; i++)
      for (j=0; j<=3; j++)
        y[i] = y[i] + a[j]*x[j*n+i];
  ) @*/
  for (i=0; i<=n-1; i++)
    for (j=0; j<=3; j++)
      y[i] = y[i] + a[j]*x[j*n+i];
  /*@ end @*/
  /*@ end @*/
}
