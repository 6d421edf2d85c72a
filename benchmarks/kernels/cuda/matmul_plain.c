/* C = C + A B, a thread for each element of C.  The first configuration is CUDA(nd=2). */
void matmul_plain(int n, const double *restrict A, const double *restrict B, double *restrict C)
{
  int i, j, k;

  /*@ begin PerfTuning(
    def performance_params {
      param TX[] = [32, 8, 16, 64];
      param TY[] = [4, 1, 2, 8, 16];
      constraint block = TX * TY >= 32;
    }

    def input_params {
      param n[] = [1024];
    }

    def input_vars {
      decl dynamic double A[n*n] = random;
      decl dynamic double B[n*n] = random;
      decl dynamic double C[n*n] = random;
    }

    def search {
      arg algorithm = 'Exhaustive';
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=2, threadCount=[TX, TY], cacheBlocks=False)) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        C[i * n + j] += A[i * n + k] * B[k * n + j];
  /*@ end @*/
  /*@ end @*/
}
