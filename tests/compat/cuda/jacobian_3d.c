/* Seven diagonals of a Jacobian, each point of the grid a row: as many stores per thread, to distant places. */
#include <math.h>

void jacobian_3d(int m, double sc, const double *restrict x, double *restrict d)
{
  int p, i, j, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,257,32);
      param BC[] = [2,14,28];
      param PL[] = [16,32,48];
      param SC[] = [1,2];
    }
    def input_params { param m[] = [7]; }
    def input_vars {
      decl double sc = 0.001;
      decl dynamic double x[m*m*m] = random;
      decl dynamic double d[7*m*m*m] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, preferL1Size=PL, streamCount=SC)
    for (p=0; p<=m*m*m-1; p++) {
      i = p % m;
      j = p / m % m;
      k = p / (m*m);
      if (i==0 || j==0 || k==0 || i==m-1 || j==m-1 || k==m-1) {
        d[7*p+3] = 1.0;
      } else {
        d[7*p] = -1.0;
        d[7*p+1] = -1.0;
        d[7*p+2] = -1.0;
        d[7*p+3] = 6.0 - sc*exp(x[p]/8);
        d[7*p+4] = -1.0;
        d[7*p+5] = -1.0;
        d[7*p+6] = -1.0;
      }
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
