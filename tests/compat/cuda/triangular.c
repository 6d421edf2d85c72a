/* The bound of the inner loop is the outer index: threads do rows of different lengths. */
void triangular(int n, const double *restrict L, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,513,32);
      param BC[] = [1,2,14];
      param UIF[] = [1,2,4];
    }
    def input_params { param n[] = [40]; }
    def input_vars {
      decl dynamic double L[n*n] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, unrollInner=UIF)
    for (i=0; i<=n-1; i++)
      for (j=0; j<=i; j++)
        y[i] += L[i*n+j]*x[j];
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
