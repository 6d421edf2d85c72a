/* Composite's `cuda` with named values, behind a tiled and permuted nest whose outer loop is parallel. */
void composite_named(int n, int m, const double *restrict A, double *restrict B)
{
  int i, j, jj;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,128];
      param BC[] = [1,2,5];
      param T[] = [1,4,16];
      param U[] = [1,2,4];
    }
    def input_params { param n[] = [40]; param m[] = [30]; }
    def input_vars {
      decl dynamic double A[n*m] = random;
      decl dynamic double B[n*m] = 0;
    }
  ) @*/
  /*@ begin Loop(transform Composite(
      tile = [('j',T,'jj')],
      cuda = (True, ('threadCount', TC), ('blockCount', BC), ('unrollInner', U))
    )
    for (i=0; i<=n-1; i++)
      for (j=0; j<=m-1; j++)
        B[i*m+j] = 2.0*A[i*m+j] + j;
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
