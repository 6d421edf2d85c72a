/* Vector update y = y + alpha x.
 *
 * Bound by memory for the large sizes; the compiler flags are a parameter like the others.
 */

void vecaxpy(int n, double alpha, const double *restrict x, double *restrict y)
{
  int i;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc @CFLAGS';
    }

    def performance_counter {
      arg repetitions = 10;
    }

    def performance_params {
      param CFLAGS[] = ['-O3', '-O2', '-O3 -march=native', '-O3 -march=native -funroll-loops'];
      param U[] = [2**e for e in range(5)];
      param VEC[] = [False, True];
      param OMP[] = [False, True];
    }

    def input_params {
      param n[] = [10000, 1000000];
    }

    def input_vars {
      decl double alpha = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }

    def search {
      arg algorithm = 'Exhaustive';
    }
  ) @*/
  /*@ begin Loop(transform Composite(
        unrolljam = (['i'], [U]),
        openmp = (OMP, 'omp parallel for'),
        vector = (VEC, ['ivdep']))
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = y[i] + alpha * x[i];
  /*@ end @*/
  /*@ end @*/
}
