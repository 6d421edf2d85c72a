/* EX14FF of the OrCL paper: the residual of the solid-fuel ignition problem, a seven-point stencil.  The first configuration
 * is CUDA(nd=3).
 *
 * See ../sfi_function.c; rows of boundary points are the identity.  sc is lambda scaled by hx hy hz.
 */
#include <math.h>

void ex14ff(int m, double sc, const double *restrict x, double *restrict f)
{
  const double hx = 1.0 / (m - 1), hy = hx, hz = hx;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg libs = '-lm';
    }

    def performance_counter {
      arg repetitions = 5;
      arg time = 'kernel';
    }

    def performance_params {
      # Blocks are TX by TY by TZ points; BZ of them share out the planes, 0: as many as there are planes.
      param TX[] = [32, 16, 64];
      param TY[] = [4, 2, 8];
      param TZ[] = [1, 2];
      param BZ[] = [0, 4, 16];
      param CB[] = [False, True];
      param UI[] = [1, 2, 4];
      constraint rows = BZ > 0 or UI == 1;
    }

    def input_params {
      param m[] = [64, 75, 100, 128];
    }

    def input_vars {
      decl double sc = 0.00001;
      decl dynamic double x[m*m*m] = random;
      decl dynamic double f[m*m*m] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=3, threadCount=[TX, TY, TZ], cacheBlocks=CB, unrollInner=UI,
        blockCount=[(m + TX - 1) // TX, (m + TY - 1) // TY, BZ] if BZ > 0 else 0)
  ) @*/
  for (k = 0; k < m; k++)
    for (j = 0; j < m; j++)
      for (i = 0; i < m; i++)
        if (i == 0 || j == 0 || k == 0 || i == m - 1 || j == m - 1 || k == m - 1) {
          f[(k * m + j) * m + i] = x[(k * m + j) * m + i];
        } else {
          const double u = x[(k * m + j) * m + i];
          const double uxx = (2.0 * u - x[(k * m + j) * m + i - 1] - x[(k * m + j) * m + i + 1]) * hyhzdhx;
          const double uyy = (2.0 * u - x[(k * m + j - 1) * m + i] - x[(k * m + j + 1) * m + i]) * hxhzdhy;
          const double uzz = (2.0 * u - x[((k - 1) * m + j) * m + i] - x[((k + 1) * m + j) * m + i]) * hxhydhz;

          f[(k * m + j) * m + i] = uxx + uyy + uzz - sc * exp(u);
        }
  /*@ end @*/
  /*@ end @*/
}
