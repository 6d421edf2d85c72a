// threads per block: 256
// Seven-point stencil: planes in the registers of each thread, the middle one in shared memory with its border.
#define BX 32
#define BY 8

extern "C" __global__ void stencil3d(int nx, int ny, int nz, double centre, double side, const double *__restrict__ u,
                                     double *__restrict__ v)
{
  __shared__ double plane[BY + 2][BX + 2];
  int i = blockIdx.x * BX + threadIdx.x + 1, j = blockIdx.y * BY + threadIdx.y + 1;
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  int inside = i < nx - 1 && j < ny - 1;
  long step = (long)nx * ny, at = step + (long)j * nx + i;
  double below = 0.0, here = 0.0, above = 0.0;

  if (inside) {
    below = u[at - step];
    here = u[at];
  }
  for (int k = 1; k < nz - 1; k++, at += step) {
    if (inside) {
      above = u[at + step];
      plane[y][x] = here;
      if (x == 1)
        plane[y][0] = u[at - 1];
      if (x == BX || i == nx - 2)
        plane[y][x + 1] = u[at + 1];
      if (y == 1)
        plane[0][x] = u[at - nx];
      if (y == BY || j == ny - 2)
        plane[y + 1][x] = u[at + nx];
    }
    __syncthreads();
    if (inside)
      v[at] = centre * here
              + side * (below + above + plane[y][x - 1] + plane[y][x + 1] + plane[y - 1][x] + plane[y + 1][x]);
    __syncthreads();
    below = here;
    here = above;
  }
}
