/* poisson N [SOLUTION]: solve on a grid of N x N x N unknowns, report, and write the solution to a file.
 *
 * The seconds are processor time of the solver, which is serial: other processes disturb it less than wall time.
 */
#define _POSIX_C_SOURCE 199309L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "solver.h"

#define LARGEST 1000

static double now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_field(const char *path, grid g, const real *field)
{
  FILE *file = fopen(path, "wb");
  size_t written;

  if (file == NULL)
    return 0;
  written = fwrite(field, sizeof *field, grid_points(g), file);
  return fclose(file) == 0 && written == grid_points(g);
}

int main(int count, char **words)
{
  const int n = count > 1 ? atoi(words[1]) : 64;
  const solver_options options = {1.6, 1e-10, 2000};
  grid g = {n, n, n};
  problem p;
  solver_result result;
  real *x, error = 0.0, largest = 0.0;
  double start, seconds;

  if (n < 1 || n > LARGEST) {
    fprintf(stderr, "usage: %s N [SOLUTION], N from 1 to %d\n", words[0], LARGEST);
    return 2;
  }
  p = problem_create(g);
  x = field_create(g);
  start = now();
  result = solve(&p, options, x);
  seconds = now() - start;
  for (size_t i = 0; i < grid_points(g); i++) {
    error = fmax(error, fabs(x[i] - p.exact[i]));
    largest = fmax(largest, fabs(p.exact[i]));
  }
  printf("n %d iterations %d seconds %.6f residual %.3e error %.3e\n", n, result.iterations, seconds,
         (double)result.residual, (double)(error / largest));
  if (count > 2 && !write_field(words[2], g, x)) {
    fprintf(stderr, "poisson: cannot write `%s`\n", words[2]);
    return 1;
  }
  problem_destroy(&p);
  free(x);
  return result.iterations < options.most_iterations ? 0 : 1;
}
