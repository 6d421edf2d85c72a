/* Drives generated host code over the fake OpenCL library; prints what tests compare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_opencl.h"
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

static int told;
static char message[8192];

static void on_error(int status, const char *text)
{
  told = status;
  (void)snprintf(message, sizeof message, "%s", text);
}

static int axpy(long n)
{
  double *y = malloc((size_t)n * sizeof *y);
  double *x = malloc((size_t)n * sizeof *x);
  long k;
  for (k = 0; k < n; k++)
    y[k] = x[k] = (double)k;
  told = 0;
  orio_opencl_test_axpy(y, x, n, n, EACH 2.0, n);
  for (k = 0; k < n; k++)
    if (y[k] != (double)k)
      (void)printf("element %ld changed\n", k);
  free(x);
  free(y);
  return told;
}

static int squares(long n)
{
  double *x = calloc((size_t)n, sizeof *x);
  int *k = calloc((size_t)n, sizeof *k);
  double s = 4.0;
  int m = 7;
  told = 0;
  orio_opencl_test_squares(x, k, n, n, n, &s, &m);
  if (told == 0 ? s != 4.0 || m != 0 : s != 4.0 || m != 7)
    (void)printf("wrong reduction %g %d\n", s, m);
  free(x);
  free(k);
  return told;
}

static int add(long n)
{
  float *c = calloc((size_t)(n * n), sizeof *c);
  told = 0;
  orio_opencl_test_add(c, c, c, n * n, n * n, n * n, ROWS(n, 1) n, 1, n, n);
  free(c);
  return told;
}

static int run_all(void)
{
  int status = axpy(20);
  if (status == 0)
    status = squares(50);
  if (status == 0)
    status = add(7);
  return status;
}

/* Lets every call of the host code fail in turn; the first calls, those that find everything there, a release. */
static void inject(int is_warm)
{
  long n, total;
  int bad = 0;
  (void)orio_opencl_test_release();
  if (is_warm)
    (void)run_all();
  fake_reset();
  (void)run_all();
  total = fake_calls();
  for (n = 1; n <= total; n++) {
    int status;
    (void)orio_opencl_test_release();
    if (is_warm)
      (void)run_all();
    fake_reset();
    fake_fail_at(n, -5);
    message[0] = '\0';
    status = run_all();
    if (status != -5 || strstr(message, "CL_OUT_OF_RESOURCES (-5)") == NULL || fake_alive() != 0) {
      (void)printf("call %ld of %ld: status %d, alive %ld: %s\n", n, total, status, fake_alive(), message);
      bad++;
    }
    if (run_all() != 0)
      (void)printf("no call works after call %ld failed\n", n);
    if (fake_faults() != 0)
      (void)printf("faults with call %ld\n", n);
  }
  (void)printf("%ld calls, %d bad\n", total, bad);
}

static void inject_release(void)
{
  long n, total;
  (void)run_all();
  fake_reset();
  (void)orio_opencl_test_release();
  total = fake_calls();
  for (n = 1; n <= total; n++) {
    int status;
    (void)run_all();
    fake_reset();
    fake_fail_at(n, -6);
    status = orio_opencl_test_release();
    if (status != -6 || fake_alive() != 0 || fake_faults() != 0 || fake_calls() != total)
      (void)printf("release, call %ld: status %d, alive %ld\n", n, status, fake_alive());
  }
  (void)printf("%ld releases\n", total);
}

static void growth(void)
{
  static const long sizes[] = {20, 20, 10, 40, 30, 40};
  size_t k;
  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    fake_reset();
    (void)axpy(sizes[k]);
    (void)printf("n=%ld: %ld made, %ld alive, %d items\n", sizes[k], fake_created(), fake_alive(),
                 (int)fake_global(0));
  }
}

static void build_failure(void)
{
  long n;
  for (n = 1; n < 200; n++) {
    (void)orio_opencl_test_release();
    fake_reset();
    fake_fail_at(n, -11);
    (void)axpy(3);
    if (strstr(message, "clBuildProgram") != NULL)
      break;
  }
  (void)printf("%s\n", message);
}

static void zero(void)
{
  fake_reset();
  orio_opencl_test_axpy(NULL, NULL, 0, 0, EACH 1.0, 0);
  orio_opencl_test_axpy(NULL, NULL, -3, -3, EACH 1.0, -3);
  orio_opencl_test_add(NULL, NULL, NULL, 0, 0, 0, ROWS(5L, 0) 5, 0, 5, 0);
  (void)printf("%ld calls\n", fake_calls());
}

static void streams(void)
{
  long n;
  for (n = 1; n <= 7; n++) {
    fake_reset();
    (void)add(n);
    (void)printf("%ld ", fake_launches());
  }
  (void)printf("launches\n");
}

int main(int count, char **words)
{
  static const struct fake_device devices[] = {
    {0, "Host CPU", 1, 2, "OpenCL 1.2 old 7"}, {0, "Other CPU", 1, 2, ""},
    {1, "Small GPU", 0, 4, "OpenCL 1.2 old"},  {1, "Big GPU", 1, 4, ""},
    {3, "Lone Device", 1, 16, "OpenCL 3.0"},   {4, "Late GPU", 1, 4, "OpenCL 2.0 new 10.1"},
    {5, "Same GPU", 1, 4, "OpenCL 2.0 new 10.1"}, {6, "Chip", 1, 8, "OpenCL 3.0"}};
  const char *what = count > 1 ? words[1] : "";
  fake_set_devices(devices, strcmp(what, "none") == 0 ? 0 : 8);
  if (strcmp(what, "abort") != 0 && orio_opencl_test_on_error(on_error) != NULL)
    (void)printf("another handler was there\n");
  if (strcmp(what, "inject") == 0) {
    inject(0);
    inject(1);
    inject_release();
  } else if (strcmp(what, "growth") == 0) {
    growth();
  } else if (strcmp(what, "build") == 0) {
    build_failure();
  } else if (strcmp(what, "zero") == 0) {
    zero();
  } else if (strcmp(what, "streams") == 0) {
    streams();
  } else if (strcmp(what, "huge") == 0) {
    orio_opencl_test_axpy(NULL, NULL, 0x7fffffffffffffffL, 1, EACH 1.0, 1);
    (void)printf("%s\n", message);
  } else if (strcmp(what, "source") == 0) {
    (void)axpy(3);
    (void)printf("%s", fake_source());
  } else if (strcmp(what, "options") == 0) {
    (void)axpy(3);
    (void)printf("%s\n", fake_options());
  } else if (strcmp(what, "abort") == 0) {
    fake_fail_at(1, -32);
    (void)axpy(3);
  } else {
    if (axpy(3) != 0)
      (void)printf("%s\n", message);
    else
      (void)printf("%s\n", devices[fake_device()].name);
  }
  (void)orio_opencl_test_release();
  if (fake_alive() != 0 || fake_faults() != 0)
    (void)printf("%ld objects left, %ld faults\n", fake_alive(), fake_faults());
  return 0;
}
