/* vecAXPY of the OrCL paper, Table I: y = y + alpha x.  The first configuration is what CUDA() has by default. */
void vecaxpy(int n, double alpha, const double *restrict x, double *restrict y)
{
  int i;

  /*@ begin PerfTuning(
    def performance_params {
      # BC = 0: as many blocks as give each thread one element
      param TC[] = [128, 32, 64, 192, 256, 384, 512, 768, 1024];
      param BC[] = [0, 66, 132, 264, 528, 1056, 2112];
      param SP[] = ['strided', 'blocked'];
      param VW[] = [1, 2, 4];
      constraint one_element = BC > 0 or SP == 'strided';
    }

    def input_params {
      param n[] = [10000000];
    }

    def input_vars {
      decl double alpha = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 40;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, spread=SP, vectorWidth=VW)) @*/
  for (i = 0; i <= n - 1; i++)
    y[i] = y[i] + alpha * x[i];
  /*@ end @*/
  /*@ end @*/
}
