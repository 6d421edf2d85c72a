/* Jacobi sweeps for the Poisson equation on a square grid of fixed size, five-point stencil.
 *
 * The grid is global and its size a macro, so both are known to the compiler.  The sweep and the copy back are
 * tuned together, inside the loop over time steps.
 */

#define N 1024
#define STEPS 4

double u[N][N];
double v[N][N];
double rhs[N][N];

void jacobi2d(double h2)
{
  int t, i, j;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      # tiles of the sweep
      param T_I[] = [1, 16, 32, 64, 128];
      param T_J[] = [1, 64, 128, 256, 512];
      param U_J[] = [1, 2, 4, 8];

      # unrolling of the copy
      param U_C[] = [1, 2, 4, 8];
      param VEC[] = [False, True];
      param OMP[] = [False, True];

      # three rows of u and one each of v and rhs in half of a 1 MiB second-level cache
      constraint fits_l2 = 8 * (3 * T_I * T_J + 2 * T_J) <= 524288;

      # threads share out blocks of rows
      constraint parallel_rows = not OMP or T_I > 1 or T_J == 1;
    }

    def input_params {
      param N[] = [1024];
    }

    def input_vars {
      decl double h2 = random;
      decl static double u[N][N] = random;
      decl static double v[N][N] = random;
      decl static double rhs[N][N] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  for (t = 0; t < STEPS; t++) {
    /*@ begin Loop(transform Composite(
          tile = [('i', T_I, 'ii'), ('j', T_J, 'jj')],
          permut = [[['ii'], ['jj'], 'i', 'j']],
          unrolljam = (['j'], [U_J]),
          openmp = (OMP, 'omp parallel for private(i, j)'),
          vector = (VEC, ['ivdep']))
    ) @*/
    for (i = 1; i < N - 1; i++)
      for (j = 1; j < N - 1; j++)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + h2 * rhs[i][j]);
    /*@ end @*/

    /*@ begin Loop(transform Composite(
          unrolljam = (['j'], [U_C]),
          openmp = (OMP, 'omp parallel for private(j)'),
          vector = (VEC, ['ivdep']))
    ) @*/
    for (i = 1; i < N - 1; i++)
      for (j = 1; j < N - 1; j++)
        u[i][j] = v[i][j];
    /*@ end @*/
  }
  /*@ end @*/
}
