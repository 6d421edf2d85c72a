/* EX14FF of the OrCL paper: the residual of the solid-fuel ignition problem on an mx x my x mz grid.
 *
 * See ../sfi_function.c; here it is one loop over the grid's points, as in the paper.
 */
#include <math.h>

void ex14ff(int mx, int my, int mz, double lambda, const double *restrict x, double *restrict f)
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
      decl dynamic double f[mx*my*mz] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(workGroups=WG if WG > 0 else (mx * my * mz + WI - 1) // WI,
        workItemsPerGroup=WI, sizeHint=SH, vecHint=VH, clFlags=CFLAGS)
  ) @*/
  for (i = 0; i < rows; i++)
    if (i < plane || i >= rows - plane || i % plane < mx || i % plane >= plane - mx || i % mx == 0 ||
        i % mx == mx - 1) {
      f[i] = x[i];
    } else {
      const double u = x[i];
      const double uxx = (2.0 * u - x[i - 1] - x[i + 1]) * hyhzdhx;
      const double uyy = (2.0 * u - x[i - mx] - x[i + mx]) * hxhzdhy;
      const double uzz = (2.0 * u - x[i - plane] - x[i + plane]) * hxhydhz;

      f[i] = uxx + uyy + uzz - sc * exp(u);
    }
  /*@ end @*/
  /*@ end @*/
}
