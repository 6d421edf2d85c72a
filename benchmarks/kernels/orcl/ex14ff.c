/* EX14FF of the OrCL paper: the residual of the solid-fuel ignition problem, a seven-point stencil.
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
      # The paper has seven parameters with 5 760 combinations and does not list their values; these are as many and
      # contain its Table III.  Groups are rows of 16 points; WG of them share out the planes, and each goes along its
      # rows.  WG = 0: as many groups as give each item one point.
      param WI[] = [32, 64, 128, 256];
      param WG[] = [0, 8, 16, 32, 64, 128];
      param CB[] = [False, True];
      param UI[] = [1, 2, 3, 4, 5];
      param SH[] = [True, False];
      param VH[] = [0, 2, 4];
      param CFLAGS[] = ['', '-cl-mad-enable', '-cl-unsafe-math-optimizations', '-cl-fast-relaxed-math'];
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
  /*@ begin Loop(transform OpenCL(nd=3, workItemsPerGroup=[16, WI // 16, 1],
        workGroups=[1, (16 * m + WI - 1) // WI, WG] if WG > 0 else 0,
        cacheBlocks=CB, unrollInner=UI, sizeHint=SH, vecHint=VH, clFlags=CFLAGS)
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
