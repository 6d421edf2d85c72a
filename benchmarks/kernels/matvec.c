/* Matrix-vector product y = A x, row-major.
 *
 * The innermost loop runs over the columns (dot products: one chain of additions) or over a block of rows
 * (one independent chain per row).  Every element of y is summed in the same order either way.
 */

void matvec(int m, int n, const double *restrict A, const double *restrict x, double *restrict y)
{
  int i, j;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      param T_I[] = [1, 4, 8, 16, 32];
      param T_J[] = [1, 256, 512, 1024];
      param ROWS_INSIDE[] = [False, True];
      param U[] = [1, 2, 4, 8, 16];
      param VEC[] = [False, True];
      param OMP[] = [False, True];

      # rows run innermost within a block of rows, never over the whole matrix
      constraint blocked = not ROWS_INSIDE or T_I > 1;
      constraint unroll_fits = not ROWS_INSIDE or U <= T_I;

      # the sum of a row is one chain; only rows can be declared free of dependences
      constraint independent = not VEC or ROWS_INSIDE;

      # a tile of A stays in an eighth of a 1 MiB second-level cache
      constraint fits_l2 = 8 * T_I * T_J <= 131072;
      constraint parallel_rows = not OMP or T_I > 1 or T_J == 1;
    }

    def input_params {
      param m[] = [2048];
      param n[] = [2048];
    }

    def input_vars {
      decl dynamic double A[m*n] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[m] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 100;
    }
  ) @*/
  for (i = 0; i < m; i++)
    y[i] = 0.0;

  /*@ begin Loop(transform Composite(
        tile = [('i', T_I, 'ii'), ('j', T_J, 'jj')],
        permut = [[['ii'], ['jj'], 'j', 'i'] if ROWS_INSIDE else [['ii'], ['jj'], 'i', 'j']],
        unrolljam = (['i' if ROWS_INSIDE else 'j'], [U]),
        openmp = (OMP, 'omp parallel for private(i, j)'),
        vector = (VEC, ['ivdep']))
  ) @*/
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++)
      y[i] += A[i * n + j] * x[j];
  /*@ end @*/
  /*@ end @*/
}
