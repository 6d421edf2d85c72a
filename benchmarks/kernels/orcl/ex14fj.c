/* EX14FJ of the OrCL paper: the seven diagonals of the Jacobian of the solid-fuel ignition problem.
 *
 * See ../sfi_jacobian.c; diagonal d starts at dia[d * rows].  sc is lambda scaled by hx hy hz.
 */
#include <math.h>

void ex14fj(int m, double sc, const double *restrict x, double *restrict dia)
{
  const double hx = 1.0 / (m - 1), hy = hx, hz = hx;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  const int plane = m * m, rows = m * m * m;
  int i;

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
      # contain its Table III.  No two items read the same element, so there is nothing to keep in local memory: SP,
      # how an item's points lie, stands in the place of cacheBlocks.  WG = 0: as many groups as give each item one point.
      param WI[] = [32, 64, 128, 256];
      param WG[] = [0, 8, 16, 32, 64, 128];
      param SP[] = ['strided', 'blocked'];
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
      decl dynamic double dia[7*m*m*m] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(workGroups=WG, workItemsPerGroup=WI, spread=SP if WG > 0 else 'strided',
        unrollInner=UI, sizeHint=SH, vecHint=VH, clFlags=CFLAGS)
  ) @*/
  for (i = 0; i < rows; i++) {
    const double u = x[i];

    if (i < plane || i >= rows - plane || i % plane < m || i % plane >= plane - m || i % m == 0 ||
        i % m == m - 1) {
      dia[i] = 0.0;
      dia[i + rows] = 0.0;
      dia[i + 2 * rows] = 0.0;
      dia[i + 3 * rows] = 1.0;
      dia[i + 4 * rows] = 0.0;
      dia[i + 5 * rows] = 0.0;
      dia[i + 6 * rows] = 0.0;
    } else {
      dia[i] = -hxhydhz;
      dia[i + rows] = -hxhzdhy;
      dia[i + 2 * rows] = -hyhzdhx;
      dia[i + 3 * rows] = 2.0 * (hyhzdhx + hxhzdhy + hxhydhz) - sc * exp(u);
      dia[i + 4 * rows] = -hyhzdhx;
      dia[i + 5 * rows] = -hxhzdhy;
      dia[i + 6 * rows] = -hxhydhz;
    }
  }
  /*@ end @*/
  /*@ end @*/
}
