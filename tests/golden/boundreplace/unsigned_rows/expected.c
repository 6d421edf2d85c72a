#include <stddef.h>

void rows(size_t n, const unsigned *start, double *y, const double *x);

void rows(size_t n, const unsigned *start, double *y, const double *x) {
  /*@ begin Loop(
    transform BoundReplace(lprefix='first_', uprefix='end_')
  ) @*/
  {
    const size_t first_1 = n - 1;
    for (size_t i = first_1; i > 0; i--) {
      const unsigned first_2 = start[i];
      const unsigned end_1 = start[i + 1];
      for (unsigned j = first_2; j < end_1; j += 2)
        y[i] += x[j];
    }
  }
  /*@ end @*/
}
