/* Dense matrix product C = C + A B, row-major, square.
 *
 * Two tile levels per loop (T1 for the first-level cache, T2 for the second) and an unroll factor for the
 * registers.  A tile size of 1 means "not tiled at this level".
 */

void matmul(int n, const double *restrict A, const double *restrict B, double *restrict C)
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
      # first-level and second-level tile sizes
      param T1_I[] = [1, 8, 16, 32, 64];
      param T1_J[] = [1, 32, 64, 128, 256];
      param T1_K[] = [1, 8, 16, 32, 64];
      param T2_I[] = [1, 64, 128, 256];
      param T2_J[] = [1, 128, 256, 512];
      param T2_K[] = [1, 64, 128, 256];

      # which loop runs innermost: j (unit stride) or k (dot products)
      param INNER[] = ['j', 'k'];
      param U[] = [1, 2, 4, 8, 16];
      param VEC[] = [False, True];
      param OMP[] = [False, True];

      # a second-level tile is made of whole first-level tiles, at least two
      constraint tile_i = T2_I == 1 or (T2_I % T1_I == 0 and T2_I > T1_I);
      constraint tile_j = T2_J == 1 or (T2_J % T1_J == 0 and T2_J > T1_J);
      constraint tile_k = T2_K == 1 or (T2_K % T1_K == 0 and T2_K > T1_K);

      # the tiles of the three matrices fit together: 32 KiB of first-level cache, 1 MiB of second-level
      constraint fits_l1 = 8 * (T1_I * T1_J + T1_I * T1_K + T1_K * T1_J) <= 32768;
      constraint fits_l2 = 8 * (T2_I * T2_J + T2_I * T2_K + T2_K * T2_J) <= 1048576;

      # the unrolled body is not longer than the loop that it stands in
      constraint unroll_fits = INNER == 'j' or T1_K == 1 or U <= T1_K;

      # sums over k depend on one another, so only j can be declared free of dependences
      constraint independent = not VEC or INNER == 'j';

      # threads share out the outermost loop, which has to run over rows
      constraint parallel_rows = not OMP or T2_I > 1;
    }

    def input_params {
      param n[] = [512];
    }

    def input_vars {
      decl dynamic double A[n*n] = random;
      decl dynamic double B[n*n] = random;
      decl dynamic double C[n*n] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 100;
    }
  ) @*/
  /*@ begin Loop(
    transform Composite(
      tile = [('i', T1_I, 'ii'), ('j', T1_J, 'jj'), ('k', T1_K, 'kk'),
              (('ii', 'i'), T2_I, 'iii'), (('jj', 'j'), T2_J, 'jjj'), (('kk', 'k'), T2_K, 'kkk')],
      permut = [[['iii'], ['jjj'], ['kkk'], ['ii'], ['jj'], ['kk'], 'i', 'k', 'j'] if INNER == 'j' else
                [['iii'], ['jjj'], ['kkk'], ['ii'], ['jj'], ['kk'], 'i', 'j', 'k']],
      unrolljam = ([INNER], [U]),
      openmp = (OMP, 'omp parallel for private(i, j, k)'),
      vector = (VEC, ['ivdep'])
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        C[i * n + j] += A[i * n + k] * B[k * n + j];
  /*@ end @*/
  /*@ end @*/
}
