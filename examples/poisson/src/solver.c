#include "solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define BOX(field) ((real(*)[ny + 2][nx + 2])(field))

/* z = M^-1 r for M = (D - omega L) D^-1 (D - omega U): SSOR without its constant factor, which CG does not see. */
static void precondition(const problem *p, real omega, real *r, real *z)
{
  const int nx = p->g.nx, ny = p->g.ny, nz = p->g.nz;

  sweep_forward(nx, ny, nz, omega, BOX(p->c), BOX(p->dinv), BOX(r), BOX(z));
  sweep_backward(nx, ny, nz, omega, BOX(p->c), BOX(p->dinv), BOX(z));
}

/* d = z + beta d */
static void turn_direction(int count, real beta, const real *restrict z, real *restrict d)
{
  for (int i = 0; i < count; i++)
    d[i] = z[i] + beta * d[i];
}

static real squared_norm(int count, const real *a)
{
  real sum = 0.0;

  for (int i = 0; i < count; i++)
    sum += a[i] * a[i];
  return sum;
}

solver_result solve(const problem *p, solver_options options, real *x)
{
  const int nx = p->g.nx, ny = p->g.ny, nz = p->g.nz;
  const int count = (int)grid_points(p->g);
  real *r = field_create(p->g), *z = field_create(p->g), *d = field_create(p->g), *q = field_create(p->g);
  const real norm_b = sqrt(squared_norm(count, p->b));
  solver_result result = {0, 0.0};
  real rz, rr;

  apply_operator(nx, ny, nz, BOX(p->c), BOX(x), BOX(q));
  for (int i = 0; i < count; i++)
    r[i] = p->b[i] - q[i];
  rr = squared_norm(count, r);
  precondition(p, options.omega, r, z);
  memcpy(d, z, (size_t)count * sizeof *d);
  rz = dot_product(count, r, z);
  while (sqrt(rr) > options.tolerance * norm_b && result.iterations < options.most_iterations) {
    const real alpha = rz / apply_operator(nx, ny, nz, BOX(p->c), BOX(d), BOX(q));
    real rz_new;

    rr = update_solution(count, alpha, d, q, x, r);
    precondition(p, options.omega, r, z);
    rz_new = dot_product(count, r, z);
    turn_direction(count, rz_new / rz, z, d);
    rz = rz_new;
    result.iterations++;
  }
  result.residual = norm_b > 0.0 ? sqrt(rr) / norm_b : sqrt(rr);
  free(r);
  free(z);
  free(d);
  free(q);
  return result;
}
