/* Two problem sizes, each with a kernel of its own, and a constant between the specification and the loop. */
void sizes(int N, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,128];
      param BC[] = [1,2,3];
    }
    def input_params { param N[] = [20, 60]; }
    def input_vars {
      decl dynamic double x[N] = random;
      decl dynamic double y[N] = random;
    }
  ) @*/
  #define HALF 0.5
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC * (1 + N // 50))
    for (i=0; i<=N-1; i++)
      y[i] = HALF*(x[i] + y[i]) + 2.0/N;
  ) @*/
  for (i=0; i<=N-1; i++)
    y[i] = HALF*(x[i] + y[i]) + 2.0/N;
  /*@ end @*/
  /*@ end @*/
}
