// threads per block: 256
// C += AB with square tiles in shared memory; n is a multiple of the tile.
#define TILE 16

extern "C" __global__ void matmul_tile(int n, const double *__restrict__ a, const double *__restrict__ b,
                                       double *__restrict__ c)
{
  __shared__ double left[TILE][TILE + 1];
  __shared__ double right[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y;
  int column = blockIdx.x * TILE + threadIdx.x;
  double sum = 0.0;

  for (int t = 0; t < n; t += TILE) {
    left[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++)
      sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] += sum;
}
