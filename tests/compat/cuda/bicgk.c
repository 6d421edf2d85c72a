/* q = A p and s = A' r: two regions under one specification. */
void bicgk(int n, int m, double A[restrict n][m], const double *restrict p, const double *restrict r,
           double *restrict q, double *restrict s)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,513,32);
      param BC[] = [5,14,28];
      param TC2[] = range(32,257,32);
      param UIF[] = [1,3,5];
    }
    def input_params { param n[] = [40]; param m[] = [50]; }
    def input_vars {
      decl static double A[n][m] = random;
      decl dynamic double p[m] = random;
      decl dynamic double r[n] = random;
      decl dynamic double q[n] = 0;
      decl dynamic double s[m] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, unrollInner=UIF)
    for (i=0; i<=n-1; i++) {
      q[i] = 0.0;
      for (j=0; j<=m-1; j++)
        q[i] += A[i][j]*p[j];
    }
  ) @*/
  /*@ end @*/
  /*@ begin Loop(transform CUDA(threadCount=TC2, unrollInner=UIF)
    for (j=0; j<=m-1; j++) {
      s[j] = 0.0;
      for (i=0; i<=n-1; i++)
        s[j] += A[i][j]*r[i];
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
