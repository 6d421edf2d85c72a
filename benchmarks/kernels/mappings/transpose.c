/* The transpose of a matrix: read along rows, written along columns.
 *
 * Neighbouring threads write elements that lie a row apart, or read such where `j` is the slowest dimension.  These go
 * through tiles of 32 by 32 elements in shared memory, of which each thread fills 32 / TY.
 */

void transpose(int n, int m, const float a[restrict static n * m], float b[restrict static n * m])
{
  int i, j;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3';
    }

    def performance_params {
      param ORDER[] = [['i', 'j'], ['j', 'i']];
      param TY[] = [8, 4, 16];
    }

    def input_params {
      param n[] = [4096];
      param m[] = [4096];
    }

    def input_vars {
      decl dynamic float a[n * m] = random;
      decl dynamic float b[n * m] = random;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=ORDER, threadCount=[32, TY], cacheBlocks=True, localTile=[32, 32])) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      b[j * n + i] = a[i * m + j];
  /*@ end @*/
  /*@ end @*/
}
