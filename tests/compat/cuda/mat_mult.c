/* C = C + A B in tiles of shared memory, or without them. */
void mat_mult(int n, int m, const double *restrict A, const double *restrict B, double *restrict C)
{
  int i, j, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TX[] = [8,16];
      param TY[] = [2,4,8,16];
      param CB[] = [True,False];
      param UIF[] = [1,2,4,8];
    }
    def input_params { param n[] = [33]; param m[] = [21]; }
    def input_vars {
      decl dynamic double A[n*n] = random;
      decl dynamic double B[n*m] = random;
      decl dynamic double C[n*m] = random;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=2, threadCount=[TX,TY], cacheBlocks=CB, unrollInner=UIF)
    for (i=0; i<=n-1; i++)
      for (j=0; j<=m-1; j++)
        for (k=0; k<=n-1; k++)
          C[i*m+j] += A[i*n+k]*B[k*m+j];
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
