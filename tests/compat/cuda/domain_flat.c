/* The boundary and the interior of a cube in one loop over all its points, whose number is taken apart again. */
void domain_flat(int n, double c, const double *restrict u, double *restrict f)
{
  int p, i, j, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,257,32);
      param BC[] = [0,2,7];
      param UIF[] = [1,2];
    }
    def input_params { param n[] = [9]; }
    def input_vars {
      decl double c = 0.001;
      decl dynamic double u[n*n*n] = random;
      decl dynamic double f[n*n*n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, unrollInner=UIF)
    for (p=0; p<=n*n*n-1; p++) {
      i = p % n;
      j = p / n % n;
      k = p / (n*n);
      if (i==0 || j==0 || k==0 || i==n-1 || j==n-1 || k==n-1) {
        f[p] = u[p];
      } else {
        f[p] = 6.0*u[p] - u[p-1] - u[p+1] - u[p-n] - u[p+n] - u[p-n*n] - u[p+n*n] - c*u[p]*u[p];
      }
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
