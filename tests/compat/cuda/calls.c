/* Functions of the library, choices, and a loop that runs downwards in steps. */
#include <math.h>

void calls(int n, double a, const double *restrict x, const int *restrict c, double *restrict y)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=96, blockCount=2, coarsen=2)) @*/
  for (i = n - 1; i >= 1; i -= 2) {
    double t = fabs(x[i]) + a;
    if (c[i] > 3)
      t = sqrt(t) + fmax(x[i-1], 0.5);
    else if (c[i] > 0)
      t = floor(t / 3) - 7 / 2 * 1.0;
    y[i] = c[i] % 2 == 0 ? t : pow(t, 2.0) / n;
  }
  /*@ end @*/
}
