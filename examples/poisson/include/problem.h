/* The equation: -div(c grad u) = f on the unit cube, u = 0 on its boundary. */
#ifndef POISSON_PROBLEM_H
#define POISSON_PROBLEM_H

#include "grid.h"
#include "real.h"

typedef struct {
  grid g;
  real *c;     /* coefficient: between 1 and 50, in layers around a slanted plane */
  real *dinv;  /* inverse of the diagonal of the discrete operator; 0 at ghost points */
  real *exact; /* a solution chosen beforehand */
  real *b;     /* the operator applied to it */
} problem;

/* All fields are allocated and filled; ends the program where memory is short. */
problem problem_create(grid g);
void problem_destroy(problem *p);

/* A field of zeros; ends the program where memory is short. */
real *field_create(grid g);

#endif
