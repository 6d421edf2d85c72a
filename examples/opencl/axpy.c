#include "axpy.h"

void axpy(int n, double a, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning(
    def performance_params {
      param WI[] = [64, 32, 128, 256];
      param CO[] = [1, 4];
    }
    def input_params { param n[] = [1000000]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl double a = random;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(workItemsPerGroup=WI, coarsen=CO)) @*/
  for (i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
  /*@ end @*/
  (void)i;
}
