/* LU factorisation in place, right-looking, without pivoting.
 *
 * Step k scales column k below the diagonal and subtracts the outer product of that column and row k from the
 * trailing block.  The trailing update is tuned; the steps follow one another.  Without pivoting the matrix has to
 * be diagonally dominant, which init/lu.c sees to.
 */

void lu(int n, double a[n][n])
{
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native';
    }

    def performance_counter {
      arg repetitions = 3;
    }

    def performance_params {
      param T_I[] = [1, 16, 32, 64, 128];
      param T_J[] = [1, 64, 128, 256];
      param U[] = [1, 2, 4, 8];
      param VEC[] = [False, True];
      param OMP[] = [False, True];

      # a tile of the trailing block, its column and its row in half of a 1 MiB second-level cache
      constraint fits_l2 = 8 * (T_I * T_J + T_I + T_J) <= 524288;
      constraint parallel_rows = not OMP or T_I > 1 or T_J == 1;
    }

    def input_params {
      param n[] = [512];
    }

    def input_vars {
      decl dynamic double a[n][n];
      arg init_file = 'init/lu.c';
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 80;
    }
  ) @*/
  for (k = 0; k < n - 1; k++) {
    for (i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];

    /*@ begin Loop(transform Composite(
          tile = [('i', T_I, 'ii'), ('j', T_J, 'jj')],
          permut = [[['ii'], ['jj'], 'i', 'j']],
          unrolljam = (['j'], [U]),
          openmp = (OMP, 'omp parallel for private(i, j)'),
          vector = (VEC, ['ivdep']))
    ) @*/
    for (i = k + 1; i < n; i++)
      for (j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
    /*@ end @*/
  }
  /*@ end @*/
}
