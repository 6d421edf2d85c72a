/* The residual of a reaction and diffusion problem: boundary points, a function of the library, local variables. */
#include <math.h>

void residual_3d(int m, double sc, const double *restrict x, double *restrict f)
{
  const double h = 1.0 / (m + 1);
  int i, j, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,128];
      param BC[] = [0,1,3];
      param CB[] = [False,True];
      param UIF[] = [1,2,4];
    }
    def input_params { param m[] = [9]; }
    def input_vars {
      decl double sc = 0.001;
      decl dynamic double x[m*m*m] = random;
      decl dynamic double f[m*m*m] = 0;
    }
    def build { arg libs = '-lm'; }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=3, threadCount=[16, TC//16, 1], blockCount=[1,2,BC] if BC > 0 else 0, cacheBlocks=CB, unrollInner=UIF)) @*/
  for (k = 0; k < m; k++)
    for (j = 0; j < m; j++)
      for (i = 0; i < m; i++)
        if (i == 0 || j == 0 || k == 0 || i == m - 1 || j == m - 1 || k == m - 1) {
          f[(k * m + j) * m + i] = x[(k * m + j) * m + i];
        } else {
          const double u = x[(k * m + j) * m + i];
          const double xx = (2.0 * u - x[(k * m + j) * m + i - 1] - x[(k * m + j) * m + i + 1]) * h;
          const double yy = (2.0 * u - x[(k * m + j - 1) * m + i] - x[(k * m + j + 1) * m + i]) * h;
          const double zz = (2.0 * u - x[((k - 1) * m + j) * m + i] - x[((k + 1) * m + j) * m + i]) * h;
          f[(k * m + j) * m + i] = xx + yy + zz - sc * exp(u / 8);
        }
  /*@ end @*/
  /*@ end @*/
}
