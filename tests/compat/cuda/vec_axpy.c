/* y = y + a x in the manner of a vector library: every parameter is tuned, `n` is set between the specification and
   the loop. */
void vec_axpy(int N, double a, double *restrict x, double *restrict y)
{
  register int i;

  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = range(14,113,14);
      param SC[] = range(1,6);
      param PL[] = [16,32,48];
      param CFLAGS[] = [a + b for a in ['', '-use_fast_math '] for b in ['', '-O1', '-O2', '-O3']];

      constraint threads = TC * BC <= 32768;
    }

    def build {
      arg build_command = 'nvcc -arch=sm_75 @CFLAGS';
    }

    def performance_counter {
      arg method = 'basic timer';
      arg repetitions = 6;
    }

    def input_params {
      param N[] = [1000];
    }

    def input_vars {
      decl double a = random;
      decl dynamic double x[N] = random;
      decl dynamic double y[N] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 100;
    }
  ) @*/

  int n = N;

  /*@ begin Loop (
    transform CUDA(threadCount=TC, blockCount=BC, streamCount=SC, preferL1Size=PL)
    for (i=0; i<=n-1; i++)
      y[i] += a*x[i];
  ) @*/
  for (i=0; i<=n-1; i++)
    y[i] += a*x[i];
  /*@ end @*/
  /*@ end @*/
}
