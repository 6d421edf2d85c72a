/* Dense matrix product C = C + A B with packing, after the fashion of BLAS libraries.
 *
 * A tile of B is copied into a buffer that stays in the cache (arrcopy), a block of rows and of the inner
 * dimension is unrolled and jammed into the loop over columns (unrolljam), elements that are used several
 * times stay in registers (scalarreplace), and the compiler vectorises the columns.
 */

void matmul_packed(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n])
{
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native @CFLAGS';
    }

    def performance_counter {
      arg repetitions = 3;
    }

    def performance_params {
      # tiles: rows, columns and inner dimension; 2000 is more than n, so that the loop is not tiled
      param T_I[] = [32, 64, 128, 256, 2000];
      param T_J[] = [32, 64, 128, 256, 512, 1024];
      param T_K[] = [16, 32, 64, 128, 256];

      # the block of registers
      param U_I[] = [1, 2, 3, 4, 6, 8];
      param U_K[] = [1, 2, 4, 8, 16];

      # outermost first: loops over tiles
      param ORDER[] = [['jj', 'kk', 'ii'], ['kk', 'jj', 'ii'], ['ii', 'jj', 'kk'], ['ii', 'kk', 'jj'],
                       ['jj', 'ii', 'kk'], ['kk', 'ii', 'jj']];

      param COPY_B[] = [True, False];
      param SCALARS[] = [True, False];
      param VEC[] = [True, False];
      param CFLAGS[] = ['', '-mprefer-vector-width=512'];

      # the tile of B fits in the second-level cache (1 MiB), and the unrolled body is not longer than a tile
      constraint fits_l2 = 8 * T_J * T_K <= 524288;
      constraint unroll_fits = U_K <= T_K and U_I <= T_I and U_I * U_K <= 64;
    }

    def input_params {
      param n[] = [1024];
    }

    def input_vars {
      decl dynamic double A[n][n] = random;
      decl dynamic double B[n][n] = random;
      decl dynamic double C[n][n] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 100;
    }
  ) @*/
  /*@ begin Loop(
    transform Composite(
      tile = [('i', T_I, 'ii'), ('j', T_J, 'jj'), ('k', T_K, 'kk')],
      permut = [ORDER + ['i', 'k', 'j']],
      arrcopy = [(COPY_B, 'B[k][j]', [T_K, T_J])],
      unrolljam = (['i', 'k'], [U_I, U_K]),
      scalarreplace = SCALARS,
      vector = (VEC, ['ivdep'])
    )
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
  /*@ end @*/
  /*@ end @*/
}
