/* A step of a 7-point stencil in three dimensions.  With MARCH > 0 each block goes along the slowest loop, plane by plane. */
void stencil3d(int n, const float in[restrict static n * n * n], float out[restrict static n * n * n], float c0, float c1)
{
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3';
    }

    def performance_params {
      param MARCH[] = [32, 0, 8, 128];
      param STAGE[] = [True, False];
      param TY[] = [8, 4, 16];
    }

    def input_params {
      param n[] = [256];
    }

    def input_vars {
      decl dynamic float in[n * n * n] = random;
      decl dynamic float out[n * n * n] = random;
      decl float c0 = 0.5;
      decl float c1 = 0.1;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=3, threadCount=[32, TY, 1], march=MARCH, cacheBlocks=STAGE)) @*/
  for (k = 1; k < n - 1; k++)
    for (j = 1; j < n - 1; j++)
      for (i = 1; i < n - 1; i++)
        out[(k * n + j) * n + i] = c0 * in[(k * n + j) * n + i] + c1 * (in[((k - 1) * n + j) * n + i]
            + in[((k + 1) * n + j) * n + i] + in[(k * n + j - 1) * n + i] + in[(k * n + j + 1) * n + i]
            + in[(k * n + j) * n + i - 1] + in[(k * n + j) * n + i + 1]);
  /*@ end @*/
  /*@ end @*/
}
