/* y = A x with the rows of A one after another: bounds of the inner loop and subscripts that are data.  How many
   elements there are is what the specification says, or `static`. */
void sparse_rows(int n, int entries, const int row[restrict static n + 1], const int *restrict col, const double *restrict v,
                 const double *restrict x, double *restrict y)
{
  int i, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,257,32);
      param BC[] = [1,2,14];
      param UIF[] = [1,2,4];
    }
    def input_params { param n[] = [64]; param entries[] = [64]; }
    def input_vars {
      decl dynamic int row[n+1] = 0;
      decl dynamic int col[entries] = 0;
      decl dynamic double v[entries] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, unrollInner=UIF)
    for (i=0; i<=n-1; i++) {
      y[i] = 0.0;
      for (k=row[i]; k<=row[i+1]-1; k++)
        y[i] = y[i] + v[k]*x[col[k]];
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
