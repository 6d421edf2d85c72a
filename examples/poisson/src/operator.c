#include "kernels.h"

/* Seven-point operator with the coefficient of a face as the mean of the points beside it, scaled by h squared. */
real apply_operator(int nx, int ny, int nz, real c[restrict nz + 2][ny + 2][nx + 2],
                    real p[restrict nz + 2][ny + 2][nx + 2], real y[restrict nz + 2][ny + 2][nx + 2])
{
  real sum = 0.0;
  int i, j, k;

  /*@ begin PerfTuning(
    import spec poisson;
    def performance_params {
      param T_J[] = [1, 4, 8, 16];
      param U_J[] = [1, 2];
      param U_K[] = [1, 2];
      param SCALARS[] = [False, True];
      param SIMD[] = [False, True];
    }
    def input_params {
      param nx[] = [64];
      param ny[] = [64];
      param nz[] = [64];
    }
    def input_vars {
      decl dynamic double c[nz+2][ny+2][nx+2] = random;
      decl dynamic double p[nz+2][ny+2][nx+2] = random;
      decl dynamic double y[nz+2][ny+2][nx+2] = 0;
      decl double sum = 0;
    }
    def assumptions { arg reassociate = True; }
    def search { arg algorithm = 'Randomsearch'; arg total_runs = 40; }
  ) @*/
  /*@ begin Loop(transform Composite(
        tile = [('j', T_J, 'jj')],
        permut = [[['jj'], 'k', 'j', 'i']],
        unrolljam = (['k', 'j'], [U_K, U_J]),
        scalarreplace = (SCALARS, 'double'),
        vectorize = SIMD)
  ) @*/
  for (k = 1; k <= nz; k++)
    for (j = 1; j <= ny; j++)
      for (i = 1; i <= nx; i++) {
        y[k][j][i] = HALF * ((c[k][j][i] + c[k][j][i - 1]) * (p[k][j][i] - p[k][j][i - 1]) +
                             (c[k][j][i] + c[k][j][i + 1]) * (p[k][j][i] - p[k][j][i + 1]) +
                             (c[k][j][i] + c[k][j - 1][i]) * (p[k][j][i] - p[k][j - 1][i]) +
                             (c[k][j][i] + c[k][j + 1][i]) * (p[k][j][i] - p[k][j + 1][i]) +
                             (c[k][j][i] + c[k - 1][j][i]) * (p[k][j][i] - p[k - 1][j][i]) +
                             (c[k][j][i] + c[k + 1][j][i]) * (p[k][j][i] - p[k + 1][j][i]));
        sum += p[k][j][i] * y[k][j][i];
      }
  /*@ end @*/
  /*@ end @*/
  return sum;
}
