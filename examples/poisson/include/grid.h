/* A box of nx x ny x nz unknowns with one layer of ghost points around it, stored as [k][j][i]. */
#ifndef POISSON_GRID_H
#define POISSON_GRID_H

#include <stddef.h>

#define GHOST 1
#define WITH_GHOSTS(n) ((n) + 2 * GHOST)

typedef struct {
  int nx, ny, nz;
} grid;

/* All points, ghosts included: what a field of the grid holds. */
static inline size_t grid_points(grid g)
{
  return (size_t)WITH_GHOSTS(g.nx) * WITH_GHOSTS(g.ny) * WITH_GHOSTS(g.nz);
}

#endif
