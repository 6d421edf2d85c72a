/* Calls the kernel at several sizes and compares with what it has to give. */
#include <stdio.h>
#include <stdlib.h>

#include "axpy.h"

static int wrong(int n)
{
  double *x = malloc(sizeof *x * (size_t)(n + 1));
  double *y = malloc(sizeof *y * (size_t)(n + 1));
  int bad = x == NULL || y == NULL;
  int i;
  for (i = 0; i < n && !bad; i++) {
    x[i] = i;
    y[i] = 1.0;
  }
  if (!bad)
    axpy(n, 2.0, x, y);
  for (i = 0; i < n && !bad; i++)
    bad = y[i] != 1.0 + 2.0 * i;
  free(x);
  free(y);
  return bad;
}

int main(void)
{
  static const int sizes[] = {1000, 1000000, 10};
  size_t k;
  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    if (wrong(sizes[k])) {
      (void)fprintf(stderr, "wrong at n = %d\n", sizes[k]);
      return 1;
    }
    (void)printf("n = %d: right\n", sizes[k]);
  }
  return 0;
}
