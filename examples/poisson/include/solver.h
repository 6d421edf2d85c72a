/* Conjugate gradients with a symmetric successive over-relaxation (SSOR) preconditioner. */
#ifndef POISSON_SOLVER_H
#define POISSON_SOLVER_H

#include "problem.h"

typedef struct {
  real omega;         /* relaxation, between 0 and 2 */
  real tolerance;     /* of the residual's norm, relative to that of the right-hand side */
  int most_iterations;
} solver_options;

typedef struct {
  int iterations;
  real residual; /* relative */
} solver_result;

/* Solve A x = b for the x given as first guess. */
solver_result solve(const problem *p, solver_options options, real *x);

#endif
