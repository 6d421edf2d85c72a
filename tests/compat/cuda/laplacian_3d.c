/* A stencil of seven points, its three loops named by `domain`. */
void laplacian_3d(int n, double h, const double *restrict u, double *restrict f)
{
  int i, j, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TX[] = [4,8,16,32];
      param TY[] = [1,2,4];
      param TZ[] = [1,2];
      param BZ[] = [1,3];
      param CB[] = [False,True];
    }
    def input_params { param n[] = [12]; }
    def input_vars {
      decl double h = 0.5;
      decl dynamic double u[n*n*n] = random;
      decl dynamic double f[n*n*n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(domain='k, j, i', threadCount=[TX,TY,TZ], blockCount=[2,2,BZ], cacheBlocks=CB)
    for (k=1; k<=n-2; k++)
      for (j=1; j<=n-2; j++)
        for (i=1; i<=n-2; i++)
          f[k*n*n+j*n+i] = h*(6.0*u[k*n*n+j*n+i] - u[k*n*n+j*n+i-1] - u[k*n*n+j*n+i+1]
            - u[k*n*n+(j-1)*n+i] - u[k*n*n+(j+1)*n+i] - u[(k-1)*n*n+j*n+i] - u[(k+1)*n*n+j*n+i]);
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
