/* The Euclidean norm; blocks that are not made of whole warps, and more of them than one stage combines. */
#include <math.h>

double vec_norm(int n, const double *x)
{
  double sum = 0.0;
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [1,17,32,48,100,256];
      param BC[] = [1,3,40,65];
      param LB[] = [1,2];
    }
    def input_params { param n[] = [1500]; }
    def input_vars {
      decl double sum = 0;
      decl dynamic double x[n] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, launchBounds=LB)) @*/
  for (i = 0; i < n; i++)
    sum += x[i] * x[i];
  /*@ end @*/
  /*@ end @*/
  return sqrt(sum);
}
