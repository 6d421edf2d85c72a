/* CUDA around another transformation of the inner loop. */
void nested_unroll(int n, int m, const double *restrict A, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,128];
      param U[] = [1,2,3,4];
    }
    def input_params { param n[] = [40]; param m[] = [30]; }
    def input_vars {
      decl dynamic double A[n*m] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop(
    transform CUDA(threadCount=TC, blockCount=3)
    for (i=0; i<=n-1; i++) {
      transform Unroll(ufactor=U)
      for (j=0; j<=m-1; j++)
        y[i] = y[i] + A[i*m+j];
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
