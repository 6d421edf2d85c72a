/* y = A x with x in shared memory: cacheBlocks where the body is a loop. */
void mat_vec_tile(int n, int m, const double *restrict A, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,96,128,256];
      param CB[] = [True,False];
      param UIF[] = [1,2,4];
    }
    def input_params { param n[] = [50]; param m[] = [40]; }
    def input_vars {
      decl dynamic double A[n*m] = random;
      decl dynamic double x[m] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, cacheBlocks=CB, unrollInner=UIF)) @*/
  for (i = 0; i < n; i++) {
    double t = 0.0;
    for (j = 0; j < m; j++)
      t += A[i*m+j] * x[j];
    y[i] = t;
  }
  /*@ end @*/
  /*@ end @*/
}
