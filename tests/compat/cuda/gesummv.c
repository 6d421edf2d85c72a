/* y = alpha A x + beta B x: two sums per thread that only the thread sees. */
void gesummv(int n, double alpha, double beta, const double *restrict A, const double *restrict B,
             const double *restrict x, double *restrict y)
{
  double s, t;
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = [14,42,112];
      constraint threads = TC * BC <= 16384;
      param PL[] = [16,48];
      param UIF[] = [1,2,3,4];
    }
    def input_params { param n[] = [40]; }
    def input_vars {
      decl double alpha = random;
      decl double beta = random;
      decl dynamic double A[n*n] = random;
      decl dynamic double B[n*n] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, preferL1Size=PL, unrollInner=UIF)
    for (i=0; i<=n-1; i++) {
      s = 0;
      t = 0;
      for (j=0; j<=n-1; j++) {
        s = s + A[i*n+j]*x[j];
        t = t + B[i*n+j]*x[j];
      }
      y[i] = alpha*s + beta*t;
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
