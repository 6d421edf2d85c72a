#include "kernels.h"

real update_solution(int count, real alpha, real *restrict p, real *restrict q, real *restrict x,
                     real *restrict r)
{
  real sum = 0.0;
  int i;

  /*@ begin PerfTuning(
    import spec poisson;
    def performance_params {
      param COPIES[] = [1, 2, 4, 8];
      param SIMD[] = [False, True];
      constraint one_way = COPIES == 1 or not SIMD;
    }
    def input_params { param count[] = [287496]; }
    def input_vars {
      decl double alpha = 0.001;
      decl dynamic double p[count] = random;
      decl dynamic double q[count] = random;
      decl dynamic double x[count] = random;
      decl dynamic double r[count] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform Composite(unrollreduction = (['i'], [COPIES]), vectorize = SIMD)) @*/
  for (i = 0; i < count; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    sum += r[i] * r[i];
  }
  /*@ end @*/
  /*@ end @*/
  return sum;
}

real dot_product(int count, real *restrict a, real *restrict b)
{
  real sum = 0.0;
  int i;

  /*@ begin PerfTuning(
    import spec poisson;
    def performance_params {
      param COPIES[] = [1, 2, 4, 8, 16];
      param SIMD[] = [False, True];
      constraint one_way = COPIES == 1 or not SIMD;
    }
    def input_params { param count[] = [287496]; }
    def input_vars {
      decl dynamic double a[count] = random;
      decl dynamic double b[count] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform Composite(unrollreduction = (['i'], [COPIES]), vectorize = SIMD)) @*/
  for (i = 0; i < count; i++)
    sum += a[i] * b[i];
  /*@ end @*/
  /*@ end @*/
  return sum;
}
