#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

#define PI 3.14159265358979323846

real *field_create(grid g)
{
  real *field = calloc(grid_points(g), sizeof *field);

  if (field == NULL) {
    fprintf(stderr, "poisson: not enough memory for a field of %zu points\n", grid_points(g));
    exit(1);
  }
  return field;
}

static real coefficient(real x, real y, real z)
{
  return 1.0 + 49.0 / (1.0 + exp(-40.0 * sin(4.0 * PI * (x + 0.5 * y + 0.25 * z))));
}

static real solution(real x, real y, real z)
{
  return sin(PI * x) * sin(2.0 * PI * y) * sin(PI * z) + 0.5 * x * (1.0 - x) * y * (1.0 - y) * z * (1.0 - z);
}

static void fill(problem *p)
{
  const int nx = p->g.nx, ny = p->g.ny, nz = p->g.nz;
  real(*c)[ny + 2][nx + 2] = (void *)p->c;
  real(*dinv)[ny + 2][nx + 2] = (void *)p->dinv;
  real(*exact)[ny + 2][nx + 2] = (void *)p->exact;

  for (int k = 0; k < nz + 2; k++)
    for (int j = 0; j < ny + 2; j++)
      for (int i = 0; i < nx + 2; i++) {
        const real x = (real)i / (nx + 1), y = (real)j / (ny + 1), z = (real)k / (nz + 1);

        c[k][j][i] = coefficient(x, y, z);
        if (i > 0 && j > 0 && k > 0 && i <= nx && j <= ny && k <= nz)
          exact[k][j][i] = solution(x, y, z);
      }
  for (int k = 1; k <= nz; k++)
    for (int j = 1; j <= ny; j++)
      for (int i = 1; i <= nx; i++)
        dinv[k][j][i] = 1.0 / (HALF * (6.0 * c[k][j][i] + c[k][j][i - 1] + c[k][j][i + 1] + c[k][j - 1][i] +
                                       c[k][j + 1][i] + c[k - 1][j][i] + c[k + 1][j][i]));
}

problem problem_create(grid g)
{
  const int nx = g.nx, ny = g.ny, nz = g.nz;
  problem p = {g, field_create(g), field_create(g), field_create(g), field_create(g)};

  fill(&p);
  apply_operator(nx, ny, nz, (real(*)[ny + 2][nx + 2])p.c, (real(*)[ny + 2][nx + 2])p.exact,
                 (real(*)[ny + 2][nx + 2])p.b);
  return p;
}

void problem_destroy(problem *p)
{
  free(p->c);
  free(p->dinv);
  free(p->exact);
  free(p->b);
}
