/* The five kernels in which the solver spends its time; they are annotated for tuning.
 *
 * Fields are boxes [nz + 2][ny + 2][nx + 2] with ghost points; `c` is the coefficient at the grid points, positive
 * also at the ghosts, `dinv` the inverse of the operator's diagonal.
 */
#ifndef POISSON_KERNELS_H
#define POISSON_KERNELS_H

#include "real.h"

/* y = A p, and the scalar product p . y */
real apply_operator(int nx, int ny, int nz, real c[restrict nz + 2][ny + 2][nx + 2],
                    real p[restrict nz + 2][ny + 2][nx + 2], real y[restrict nz + 2][ny + 2][nx + 2]);

/* (D - omega L) z = r, where L holds the couplings to lower indices */
void sweep_forward(int nx, int ny, int nz, real omega, real c[restrict nz + 2][ny + 2][nx + 2],
                   real dinv[restrict nz + 2][ny + 2][nx + 2], real r[restrict nz + 2][ny + 2][nx + 2],
                   real z[restrict nz + 2][ny + 2][nx + 2]);

/* (D - omega U) z = D z, in place, where U holds the couplings to higher indices */
void sweep_backward(int nx, int ny, int nz, real omega, real c[restrict nz + 2][ny + 2][nx + 2],
                    real dinv[restrict nz + 2][ny + 2][nx + 2], real z[restrict nz + 2][ny + 2][nx + 2]);

/* x += alpha p, r -= alpha q, and the scalar product r . r of the new r */
real update_solution(int count, real alpha, real *restrict p, real *restrict q, real *restrict x,
                     real *restrict r);

/* a . b */
real dot_product(int count, real *restrict a, real *restrict b);

#endif
