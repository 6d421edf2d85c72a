/* Solid-fuel ignition, Jacobian: the seven diagonals of F'(u) = -laplacian - lambda exp(u).
 *
 * One row per grid point; diagonal d starts at dia[d * nrows], in the order z-, y-, x-, centre, x+, y+, z+.  Rows of boundary points are the
 * identity.  Written as one loop over the rows, as in the OrCL paper, Fig. 8 (ex14FJ).
 */
#include <math.h>

void sfi_jacobian(int m, int n, int p, double lambda, const double *restrict x, double *restrict dia)
{
  const int nrows = m * n * p;
  const double hx = 1.0 / (m - 1), hy = 1.0 / (n - 1), hz = 1.0 / (p - 1);
  const double sc = hx * hy * hz * lambda;
  const double hxhydhz = hx * hy / hz, hxhzdhy = hx * hz / hy, hyhzdhx = hy * hz / hx;
  int i;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc @CFLAGS';
      arg libs = '-lm';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      param CFLAGS[] = ['-O3 -march=native', '-O3 -march=native -fno-math-errno',
                        '-O3 -march=native -ffast-math'];
      param T[] = [1, 1024, 4096, 16384];
      param U[] = [1, 2, 4, 8];
      param VEC[] = [False, True];
      param OMP[] = [False, True];
      constraint whole_blocks = T == 1 or T % U == 0;
    }

    def input_params {
      param m[] = [64, 75, 100];
      param n[] = [64, 75, 100];
      param p[] = [64, 75, 100];
      constraint cube = m == n and n == p;
    }

    def input_vars {
      decl double lambda = 6.0;
      decl dynamic double x[m*n*p] = random;
      decl dynamic double dia[7*m*n*p] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(
    transform Composite(
      tile = [('i', T, 'ii')],
      unrolljam = (['i'], [U]),
      openmp = (OMP, 'omp parallel for private(i)'),
      vector = (VEC, ['ivdep'])
    )
    for (i = 0; i <= nrows - 1; i++) {
      if (i < m * n || i >= m * n * (p - 1) || i % (m * n) < m || i % (m * n) >= m * (n - 1) ||
          i % m == 0 || i % m == m - 1) {
        dia[i] = 0.0;
        dia[i + nrows] = 0.0;
        dia[i + 2 * nrows] = 0.0;
        dia[i + 3 * nrows] = 1.0;
        dia[i + 4 * nrows] = 0.0;
        dia[i + 5 * nrows] = 0.0;
        dia[i + 6 * nrows] = 0.0;
      } else {
        dia[i] = -hxhydhz;
        dia[i + nrows] = -hxhzdhy;
        dia[i + 2 * nrows] = -hyhzdhx;
        dia[i + 3 * nrows] = 2.0 * (hyhzdhx + hxhzdhy + hxhydhz) - sc * exp(x[i]);
        dia[i + 4 * nrows] = -hyhzdhx;
        dia[i + 5 * nrows] = -hxhzdhy;
        dia[i + 6 * nrows] = -hxhydhz;
      }
    }
  ) @*/
  for (i = 0; i <= nrows - 1; i++) {
    if (i < m * n || i >= m * n * (p - 1) || i % (m * n) < m || i % (m * n) >= m * (n - 1) ||
        i % m == 0 || i % m == m - 1) {
      dia[i] = 0.0;
      dia[i + nrows] = 0.0;
      dia[i + 2 * nrows] = 0.0;
      dia[i + 3 * nrows] = 1.0;
      dia[i + 4 * nrows] = 0.0;
      dia[i + 5 * nrows] = 0.0;
      dia[i + 6 * nrows] = 0.0;
    } else {
      dia[i] = -hxhydhz;
      dia[i + nrows] = -hxhzdhy;
      dia[i + 2 * nrows] = -hyhzdhx;
      dia[i + 3 * nrows] = 2.0 * (hyhzdhx + hxhzdhy + hxhydhz) - sc * exp(x[i]);
      dia[i + 4 * nrows] = -hyhzdhx;
      dia[i + 5 * nrows] = -hxhzdhy;
      dia[i + 6 * nrows] = -hxhydhz;
    }
  }
  /*@ end @*/
  /*@ end @*/
}
