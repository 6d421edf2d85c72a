/* EX14FJ of the OrCL paper: the seven diagonals of the Jacobian of the solid-fuel ignition problem.
 *
 * See ../sfi_jacobian.c; diagonal d starts at dia[d * rows].
 */
#include <math.h>

void ex14fj(int mx, int my, int mz, double lambda, const double *restrict x, double *restrict dia)
{
  const double hx = 1.0 / (mx - 1), hy = 1.0 / (my - 1), hz = 1.0 / (mz - 1);
  const double sc = hx * hy * hz * lambda;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  const int plane = mx * my, rows = mx * my * mz;
  int i;

  /*@ begin PerfTuning(
    def build {
      arg libs = '-lm';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      # The paper has seven parameters with 5 760 combinations and does not list their values; these contain its
      # Table III.  cacheBlocks (2 values) and unrollInner (5) would make 576 into 5 760: the one has one value here so
      # far, the other needs a loop inside the original's.  WG = 0: as many groups as give each item one point.
      param WI[] = [32, 64, 128, 256];
      param WG[] = [0, 8, 16, 32, 64, 128];
      param SH[] = [True, False];
      param VH[] = [0, 2, 4];
      param CFLAGS[] = ['', '-cl-mad-enable', '-cl-unsafe-math-optimizations', '-cl-fast-relaxed-math'];
    }

    def input_params {
      param mx[] = [64, 75, 100, 128];
      param my[] = [64, 75, 100, 128];
      param mz[] = [64, 75, 100, 128];
      constraint cube = mx == my and my == mz;
    }

    def input_vars {
      decl double lambda = 6.0;
      decl dynamic double x[mx*my*mz] = random;
      decl dynamic double dia[7*mx*my*mz] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(workGroups=WG if WG > 0 else (mx * my * mz + WI - 1) // WI,
        workItemsPerGroup=WI, sizeHint=SH, vecHint=VH, clFlags=CFLAGS)
  ) @*/
  for (i = 0; i < rows; i++) {
    const double u = x[i];

    if (i < plane || i >= rows - plane || i % plane < mx || i % plane >= plane - mx || i % mx == 0 ||
        i % mx == mx - 1) {
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
