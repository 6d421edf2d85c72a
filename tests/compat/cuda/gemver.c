/* B = A + u1 v1' + u2 v2', x = b B' y + z, w = a B x: three regions, the first over two dimensions. */
void gemver(int n, double a, double b, const double *restrict A, const double *restrict u, const double *restrict v,
            const double *restrict y, const double *restrict z, double *restrict B, double *restrict x,
            double *restrict w)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TX[] = [8,16,32];
      param TY[] = [1,2,4,8];
      param BX[] = [1,2,5];
      param TC[] = range(32,513,32);
      constraint block = TX * TY >= 32;
    }
    def input_params { param n[] = [30]; }
    def input_vars {
      decl double a = random;
      decl double b = random;
      decl dynamic double A[n*n] = random;
      decl dynamic double B[n*n] = 0;
      decl dynamic double u[2*n] = random;
      decl dynamic double v[2*n] = random;
      decl dynamic double y[n] = random;
      decl dynamic double z[n] = random;
      decl dynamic double x[n] = 0;
      decl dynamic double w[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=2, threadCount=[TX,TY], blockCount=[BX,2])) @*/
  for (i=0; i<=n-1; i++)
    for (j=0; j<=n-1; j++)
      B[i*n+j] = A[i*n+j] + u[i]*v[j] + u[n+i]*v[n+j];
  /*@ end @*/
  /*@ begin Loop(transform CUDA(threadCount=TC)) @*/
  for (i=0; i<=n-1; i++) {
    double t = z[i];
    for (j=0; j<=n-1; j++)
      t += b*B[j*n+i]*y[j];
    x[i] = t;
  }
  /*@ end @*/
  /*@ begin Loop(transform CUDA(threadCount=TC)) @*/
  for (i=0; i<=n-1; i++) {
    double t = 0.0;
    for (j=0; j<=n-1; j++)
      t += a*B[i*n+j]*x[j];
    w[i] = t;
  }
  /*@ end @*/
  /*@ end @*/
}
