/* y = A x with the diagonals of A one after another; elements outside of the matrix are skipped. */
void sparse_diagonals(int n, int diagonals, const int *restrict offset, const double *restrict v,
                      const double *restrict x, double *restrict y)
{
  int i, j, col;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = range(14,113,14);
      constraint threads = TC * BC <= 16384;
      param UIF[] = range(1,6);
      param PL[] = [16,48];
    }
    def input_params { param n[] = [64]; param diagonals[] = [3]; }
    def input_vars {
      decl static int offset[diagonals] = {-1, 0, 1};
      decl dynamic double v[n*diagonals] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, preferL1Size=PL, unrollInner=UIF)
    for (i=0; i<=n-1; i++) {
      y[i] = 0.0;
      for (j=0; j<=diagonals-1; j++) {
        col = i + offset[j];
        if (col>=0 && col<n)
          y[i] += v[i+j*n]*x[col];
      }
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
