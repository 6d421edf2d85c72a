/* Triangular update C = C + alpha A^T A, lower triangle only, single precision.
 *
 * A is m x n, C is n x n, both row-major.  Written as the formula reads, so A is walked down its columns until the
 * loop over k moves outwards; the bound of j depends on i, so those two keep their order.
 */

void syrk(int n, int m, float alpha, const float *restrict A, float *restrict C)
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
      param T_I[] = [1, 8, 16, 32, 64];
      param T_K[] = [1, 8, 16, 32, 64];
      param ORDER[] = ['i j k', 'i k j', 'k i j'];
      param U[] = [1, 2, 4, 8];
      param VEC[] = [False, True];
      param OMP[] = [False, True];

      # a panel of A (T_K rows) stays in half of a 1 MiB second-level cache
      constraint fits_l2 = 4 * T_K * n <= 524288;

      # sums over k depend on one another, so only j can be declared free of dependences
      constraint independent = not VEC or ORDER != 'i j k';

      # threads share out blocks of rows of C; k would make them add to the same elements
      constraint parallel_rows = not OMP or T_I > 1;
    }

    def input_params {
      param n[] = [512];
      param m[] = [256];
    }

    def input_vars {
      decl float alpha = random;
      decl dynamic float A[m*n] = random;
      decl dynamic float C[n*n] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 80;
    }
  ) @*/
  /*@ begin Loop(transform Composite(
        tile = [('i', T_I, 'ii'), ('k', T_K, 'kk')],
        permut = [[['ii'], ['kk'], 'i', 'j', 'k'] if ORDER == 'i j k' else
                  [['ii'], ['kk'], 'i', 'k', 'j'] if ORDER == 'i k j' else
                  [['ii'], ['kk'], 'k', 'i', 'j']],
        unrolljam = (['k' if ORDER == 'i j k' else 'j'], [U]),
        openmp = (OMP, 'omp parallel for private(i, j, k) schedule(dynamic)'),
        vector = (VEC, ['ivdep']))
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      for (k = 0; k < m; k++)
        C[i * n + j] += alpha * A[k * n + i] * A[k * n + j];
  /*@ end @*/
  /*@ end @*/
}
