/* Solid-fuel ignition, residual: F(u) = -div grad u - lambda exp(u) on the unit cube, u = 0 on its boundary.
 *
 * Seven-point stencil on an mx x my x mz grid, scaled by hx hy hz.  Rows of boundary points are the identity.
 * The function that a Newton-Krylov solver evaluates in every iteration (ex14FF in the OrCL paper, Fig. 8).
 */
#include <math.h>

void sfi_function(int mx, int my, int mz, double lambda, double x[restrict mz][my][mx], double f[restrict mz][my][mx])
{
  const double hx = 1.0 / (mx - 1), hy = 1.0 / (my - 1), hz = 1.0 / (mz - 1);
  const double sc = hx * hy * hz * lambda;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc @CFLAGS';
      arg libs = '-lm';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      param CFLAGS[] = ['-O3 -march=native', '-O3 -march=native -fno-math-errno',
                        '-O3 -march=native -ffast-math'];
      param T_J[] = [1, 4, 8, 16, 32];
      param T_K[] = [1, 4, 8, 16, 32];
      param U_I[] = [1, 2, 4, 8];
      param VEC[] = [False, True];
      param OMP[] = [False, True];
      param SCHEDULE[] = ['static', 'dynamic'];

      # without threads the schedule says nothing
      constraint schedule = OMP or SCHEDULE == 'static';

      # threads share out planes, or blocks of them
      constraint parallel_planes = not OMP or T_K > 1 or T_J == 1;
    }

    def input_params {
      param mx[] = [64, 100];
      param my[] = [64, 100];
      param mz[] = [64, 100];
      constraint cube = mx == my and my == mz;
    }

    def input_vars {
      decl double lambda = 6.0;
      decl dynamic double x[mz][my][mx] = random;
      decl dynamic double f[mz][my][mx] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 80;
    }
  ) @*/
  /*@ begin Loop(transform Composite(
        tile = [('k', T_K, 'kk'), ('j', T_J, 'jj')],
        permut = [[['kk'], ['jj'], 'k', 'j', 'i']],
        unrolljam = (['i'], [U_I]),
        openmp = (OMP, 'omp parallel for private(i, j, k) schedule(' + SCHEDULE + ')'),
        vector = (VEC, ['ivdep']))
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
