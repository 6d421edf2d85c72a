#include "kernels.h"

void sweep_forward(int nx, int ny, int nz, real omega, real c[restrict nz + 2][ny + 2][nx + 2],
                   real dinv[restrict nz + 2][ny + 2][nx + 2], real r[restrict nz + 2][ny + 2][nx + 2],
                   real z[restrict nz + 2][ny + 2][nx + 2])
{
  const real half_omega = HALF * omega;
  int i, j, k;

  /*@ begin PerfTuning(
    import spec poisson;
    def performance_params {
      param U_J[] = [1, 2, 4, 8];
      param U_K[] = [1, 2, 4];
      param SCALARS[] = [False, True];
    }
    def input_params {
      param nx[] = [64];
      param ny[] = [64];
      param nz[] = [64];
    }
    def input_vars {
      decl double half_omega = 0.8;
      decl dynamic double c[nz+2][ny+2][nx+2] = random;
      decl dynamic double dinv[nz+2][ny+2][nx+2] = 0.2;
      decl dynamic double r[nz+2][ny+2][nx+2] = random;
      decl dynamic double z[nz+2][ny+2][nx+2] = 0;
    }
    def search { arg algorithm = 'Randomsearch'; arg total_runs = 24; }
  ) @*/
  /*@ begin Loop(transform Composite(
        unrolljam = (['k', 'j'], [U_K, U_J]),
        scalarreplace = (SCALARS, 'double'))
  ) @*/
  for (k = 1; k <= nz; k++)
    for (j = 1; j <= ny; j++)
      for (i = 1; i <= nx; i++)
        z[k][j][i] = dinv[k][j][i] * (r[k][j][i] + half_omega * ((c[k][j][i] + c[k - 1][j][i]) * z[k - 1][j][i] +
                                                                 (c[k][j][i] + c[k][j - 1][i]) * z[k][j - 1][i] +
                                                                 (c[k][j][i] + c[k][j][i - 1]) * z[k][j][i - 1]));
  /*@ end @*/
  /*@ end @*/
}

void sweep_backward(int nx, int ny, int nz, real omega, real c[restrict nz + 2][ny + 2][nx + 2],
                    real dinv[restrict nz + 2][ny + 2][nx + 2], real z[restrict nz + 2][ny + 2][nx + 2])
{
  const real half_omega = HALF * omega;
  int i, j, k;

  /*@ begin PerfTuning(
    import spec poisson;
    def performance_params {
      param U_J[] = [1, 2, 4, 8];
      param U_K[] = [1, 2, 4];
      param SCALARS[] = [False, True];
    }
    def input_params {
      param nx[] = [64];
      param ny[] = [64];
      param nz[] = [64];
    }
    def input_vars {
      decl double half_omega = 0.8;
      decl dynamic double c[nz+2][ny+2][nx+2] = random;
      decl dynamic double dinv[nz+2][ny+2][nx+2] = 0.2;
      decl dynamic double z[nz+2][ny+2][nx+2] = random;
    }
    def search { arg algorithm = 'Randomsearch'; arg total_runs = 24; }
  ) @*/
  /*@ begin Loop(transform Composite(
        unrolljam = (['k', 'j'], [U_K, U_J]),
        scalarreplace = (SCALARS, 'double'))
  ) @*/
  for (k = nz; k >= 1; k--)
    for (j = ny; j >= 1; j--)
      for (i = nx; i >= 1; i--)
        z[k][j][i] += half_omega * dinv[k][j][i] * ((c[k][j][i] + c[k + 1][j][i]) * z[k + 1][j][i] +
                                                    (c[k][j][i] + c[k][j + 1][i]) * z[k][j + 1][i] +
                                                    (c[k][j][i] + c[k][j][i + 1]) * z[k][j][i + 1]);
  /*@ end @*/
  /*@ end @*/
}
