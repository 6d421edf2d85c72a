/* Drives generated host code over a real OpenCL device and compares with plain loops. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "test_opencl.h"

/* What an iteration touches of each array. */
#ifdef ADD_SLICES
#define REACH(m, first) 2 * (m), (first) * (m), 3 * (m)
#define ROWS(m, first) REACH(m, first), REACH(m, first), REACH(m, first),
#else
#define ROWS(m, first)
#endif
#ifdef AXPY_SLICES
#define EACH 1, 0, 1, 1, 0, 1,
#else
#define EACH
#endif

static int bad;

static void axpy(long n, int seed)
{
  double *y = malloc((size_t)(n + 1) * sizeof *y);
  double *x = malloc((size_t)(n + 1) * sizeof *x);
  double *expected = malloc((size_t)(n + 1) * sizeof *x);
  long k;
  for (k = 0; k <= n; k++) {
    y[k] = (double)(k + seed);
    x[k] = 1.0 / (double)(k + 1);
    expected[k] = k < n ? y[k] + 3.0 * x[k] : y[k];
  }
  orio_opencl_test_axpy(y, x, n, n, EACH 3.0, n);
  for (k = 0; k <= n; k++)
    if (y[k] - expected[k] > 1e-12 || expected[k] - y[k] > 1e-12)
      bad++;
  free(y);
  free(x);
  free(expected);
}

static void add(long n, long m, int first)
{
  size_t count = (size_t)(n * m);
  float *a = malloc(count * sizeof *a);
  float *b = malloc(count * sizeof *b);
  float *c = malloc(count * sizeof *c);
  float *expected = malloc(count * sizeof *c);
  long i, j;
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      a[i * m + j] = (float)i;
      b[i * m + j] = (float)(j * 8);
      c[i * m + j] = expected[i * m + j] = -1.0f;
    }
  for (i = first; i < n; i += 2)
    for (j = 0; j < m; j++)
      expected[i * m + j] = a[i * m + j] + b[i * m + j];
  orio_opencl_test_add(c, a, b, n * m, n * m, n * m, ROWS(m, first) m, first, (n - first + 1) / 2, m);
  for (i = 0; i < n * m; i++)
    if (c[i] != expected[i])
      bad++;
  free(a);
  free(b);
  free(c);
  free(expected);
}

static double squares(long n)
{
  double *x = malloc((size_t)n * sizeof *x);
  int *k = malloc((size_t)n * sizeof *k);
  double s = 0.5, expected = 0.5;
  int m = 5000, least = 5000;
  long i;
  for (i = 0; i < n; i++) {
    x[i] = 1.0 / (double)(i + 1);
    k[i] = (int)((i * 7919) % 6007);
    expected += x[i] * x[i];
    least = k[i] < least ? k[i] : least;
  }
  orio_opencl_test_squares(x, k, n, n, n, &s, &m);
  if (m != least || s - expected > 1e-12 || expected - s > 1e-12)
    bad++;
  free(x);
  free(k);
  return s;
}

static void *work(void *seed)
{
  int k;
  for (k = 0; k < 20; k++) {
    axpy(50 + 37 * k, *(int *)seed);
    if (k == 10)
      (void)orio_opencl_test_release();
  }
  return NULL;
}

int main(void)
{
  static const long sizes[] = {10, 1000, 100, 1, 4096};
  static int seeds[] = {1, 2};
  pthread_t threads[2];
  size_t k;
  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    axpy(sizes[k], 1);
    add(sizes[k] / 10 + 1, 13, (int)(k % 2));
    if (squares(sizes[k]) != squares(sizes[k]))
      bad++;
  }
  (void)printf("%d differences\n", bad);
  for (k = 0; k < 2; k++)
    if (pthread_create(&threads[k], NULL, work, &seeds[k]) != 0)
      return 1;
  for (k = 0; k < 2; k++)
    (void)pthread_join(threads[k], NULL);
  (void)printf("%d differences with threads\n", bad);
  return orio_opencl_test_release();
}
