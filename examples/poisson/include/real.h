/* The number type of the solver, and the arithmetic that kernels share. */
#ifndef POISSON_REAL_H
#define POISSON_REAL_H

typedef double real;

#define HALF ((real)0.5)

#endif
