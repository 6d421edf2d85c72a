/* Running sums: a kernel finds what each tile adds, a second one does the iterations. */
void scan(int n, const int *restrict x, int *restrict y)
{
  int i, sum = 0;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3';
    }

    def performance_params {
      param THREADS[] = [256, 128, 512];
      param TILES[] = [1024, 256];
    }

    def input_params {
      param n[] = [16777216];
    }

    def input_vars {
      decl dynamic int x[n] = random;
      decl dynamic int y[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=THREADS, blockCount=TILES)) @*/
  for (i = 0; i < n; i++) {
    sum += x[i];
    y[i] = sum;
  }
  /*@ end @*/
  /*@ end @*/
}
