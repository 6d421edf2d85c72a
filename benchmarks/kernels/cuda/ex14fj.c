/* EX14FJ of the OrCL paper: the seven diagonals of the Jacobian of the solid-fuel ignition problem.  The first
 * configuration is CUDA().
 *
 * See ../sfi_jacobian.c; diagonal d starts at dia[d * rows].  sc is lambda scaled by hx hy hz.
 */
#include <math.h>

void ex14fj(int m, double sc, const double *restrict x, double *restrict dia)
{
  const double hx = 1.0 / (m - 1), hy = hx, hz = hx;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  const int plane = m * m, rows = m * m * m;
  int i;

  /*@ begin PerfTuning(
    def build {
      arg libs = '-lm';
    }

    def performance_counter {
      arg repetitions = 5;
      arg time = 'kernel';
    }

    def performance_params {
      param TC[] = [128, 32, 64, 256, 512, 1024];
      param BC[] = [0, 66, 132, 264, 1056];
      param SP[] = ['strided', 'blocked'];
      param PL[] = [0, 16, 48];
      constraint one_point = BC > 0 or SP == 'strided';
    }

    def input_params {
      param m[] = [64, 75, 100, 128];
    }

    def input_vars {
      decl double sc = 0.00001;
      decl dynamic double x[m*m*m] = random;
      decl dynamic double dia[7*m*m*m] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, spread=SP, preferL1Size=PL)
  ) @*/
  for (i = 0; i < rows; i++) {
    const double u = x[i];

    if (i < plane || i >= rows - plane || i % plane < m || i % plane >= plane - m || i % m == 0 ||
        i % m == m - 1) {
      dia[i] = 0.0;
      dia[i + rows] = 0.0;
      dia[i + 2 * rows] = 0.0;
      dia[i + 3 * rows] = 1.0;
      dia[i + 4 * rows] = 0.0;
      dia[i + 5 * rows] = 0.0;
      dia[i + 6 * rows] = 0.0;
    } else {
      dia[i] = -hxhydhz;
      dia[i + rows] = -hxhzdhy;
      dia[i + 2 * rows] = -hyhzdhx;
      dia[i + 3 * rows] = 2.0 * (hyhzdhx + hxhzdhy + hxhydhz) - sc * exp(u);
      dia[i + 4 * rows] = -hyhzdhx;
      dia[i + 5 * rows] = -hxhzdhy;
      dia[i + 6 * rows] = -hxhydhz;
    }
  }
  /*@ end @*/
  /*@ end @*/
}
