/* Arrays of two dimensions that the device holds by columns. */
void columns(int n, int m, double M[restrict n][m], const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,128];
      param LAYOUT[] = ['row','column'];
    }
    def input_params { param n[] = [40]; param m[] = [30]; }
    def input_vars {
      decl static double M[n][m] = random;
      decl dynamic double x[m] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, layout=LAYOUT)) @*/
  for (i = 0; i < n; i++) {
    double t = 0;
    for (j = 0; j < m; j++)
      t += M[i][j] * x[j];
    y[i] = t;
  }
  /*@ end @*/
  /*@ end @*/
}
