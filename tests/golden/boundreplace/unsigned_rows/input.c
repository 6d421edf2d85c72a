#include <stddef.h>

void rows(size_t n, const unsigned *start, double *y, const double *x);

void rows(size_t n, const unsigned *start, double *y, const double *x) {
  /*@ begin Loop(
    transform BoundReplace(lprefix='first_', uprefix='end_')
  ) @*/
  for (size_t i = n - 1; i > 0; i--)
    for (unsigned j = start[i]; j < start[i + 1]; j += 2)
      y[i] += x[j];
  /*@ end @*/
}
