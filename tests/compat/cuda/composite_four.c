/* Composite's `cuda` with its four values, behind unrolling and scalars of other keys. */
void composite_four(int n, int m, const double *restrict A, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,513,32);
      param PIN[] = [False,True];
      param SC[] = [1,2,3];
      param U[] = [1,2,3];
      param SCREP[] = [False,True];
    }
    def input_params { param n[] = [40]; param m[] = [30]; }
    def input_vars {
      decl dynamic double A[n*m] = random;
      decl dynamic double x[m] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop(transform Composite(
      unrolljam = (['j'],[U]),
      scalarreplace = (SCREP, 'double', 'scv_'),
      cuda = (TC, False, PIN, SC)
    )
    for (i=0; i<=n-1; i++)
      for (j=0; j<=m-1; j++)
        y[i] = y[i] + A[i*m+j]*x[j];
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
