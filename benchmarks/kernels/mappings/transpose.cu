// The transpose of an n by m matrix in tiles of 32 by 32 elements, by blocks of 32 by 8 threads, as a programmer writes it.
#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose(int n, int m, const float *__restrict__ a, float *__restrict__ b)
{
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS)
    if (x < m && y + k < n)
      tile[threadIdx.y + k][threadIdx.x] = a[(size_t)(y + k) * m + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS)
    if (x < n && y + k < m)
      b[(size_t)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
