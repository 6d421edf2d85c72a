/* EX14FF of the OrCL paper: the residual of the solid-fuel ignition problem on an mx x my x mz grid.
 *
 * See ../sfi_function.c; the same loops, for a device.
 */
#include <math.h>

void ex14ff(int mx, int my, int mz, double lambda, double x[restrict mz][my][mx], double f[restrict mz][my][mx])
{
  const double hx = 1.0 / (mx - 1), hy = 1.0 / (my - 1), hz = 1.0 / (mz - 1);
  const double sc = hx * hy * hz * lambda;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg libs = '-lm';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      # Seven parameters with 5 760 combinations as in the paper, which does not list the values; these contain all of
      # its Table III.  ND stands for cacheBlocks, which has one value here so far, as streamCount: whether the
      # items share out two dimensions, with a loop over i in the kernel, or all three.
      # WG = 0: as many groups as give each item one point, or one line.
      param WI[] = [32, 64, 128, 256];
      param WG[] = [0, 8, 16, 32, 64, 128];
      param SH[] = [True, False];
      param UIF[] = [1, 2, 3, 4, 8];
      param VH[] = [0, 2, 4];
      param CFLAGS[] = ['', '-cl-mad-enable', '-cl-unsafe-math-optimizations', '-cl-fast-relaxed-math'];
      param ND[] = [2, 3];

      # there is no loop to unroll when all three are shared out
      constraint unroll_a_loop = ND == 2 or UIF == 1;
    }

    def input_params {
      param mx[] = [64, 75, 100, 128];
      param my[] = [64, 75, 100, 128];
      param mz[] = [64, 75, 100, 128];
      constraint cube = mx == my and my == mz;
    }

    def input_vars {
      decl double lambda = 6.0;
      decl dynamic double x[mz][my][mx] = random;
      decl dynamic double f[mz][my][mx] = 0;
    }

    def search {
      arg algorithm = 'Simplex';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(nd=ND,
        workItemsPerGroup=[WI // 4, 4, 1] if ND == 3 else [WI // 8, 8],
        workGroups=([(mx + WI // 4 - 1) // (WI // 4), (my + 3) // 4, mz] if WG == 0 else [1, 4, WG // 4]) if ND == 3
              else ([(my + WI // 8 - 1) // (WI // 8), (mz + 7) // 8] if WG == 0 else [4, WG // 4]),
        sizeHint=SH, vecHint=VH, unrollInner=UIF, clFlags=CFLAGS)
  ) @*/
  for (k = 0; k < mz; k++)
    for (j = 0; j < my; j++)
      for (i = 0; i < mx; i++)
        if (i == 0 || j == 0 || k == 0 || i == mx - 1 || j == my - 1 || k == mz - 1) {
          f[k][j][i] = x[k][j][i];
        } else {
          const double u = x[k][j][i];
          const double uxx = (2.0 * u - x[k][j][i - 1] - x[k][j][i + 1]) * hyhzdhx;
          const double uyy = (2.0 * u - x[k][j - 1][i] - x[k][j + 1][i]) * hxhzdhy;
          const double uzz = (2.0 * u - x[k - 1][j][i] - x[k + 1][j][i]) * hxhydhz;

          f[k][j][i] = uxx + uyy + uzz - sc * exp(u);
        }
  /*@ end @*/
  /*@ end @*/
}
