// threads per block: 256
// C += AB with tiles in shared memory, and 8 x 8 elements of C in the registers of each thread.
// n is a multiple of the tile.
#define TILE 128
#define DEPTH 8
#define EACH 8
#define SIDE (TILE / EACH)

extern "C" __global__ void matmul_registers(int n, const float *__restrict__ a, const float *__restrict__ b,
                                            float *__restrict__ c)
{
  __shared__ float left[DEPTH][TILE + 4];
  __shared__ float right[DEPTH][TILE + 4];
  int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
  int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  float sum[EACH][EACH] = {};

  for (int t = 0; t < n; t += DEPTH) {
    for (int e = threadIdx.x; e < TILE * DEPTH; e += SIDE * SIDE) {
      left[e % DEPTH][e / DEPTH] = a[(row + e / DEPTH) * n + t + e % DEPTH];
      right[e / TILE][e % TILE] = b[(t + e / TILE) * n + column + e % TILE];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
#pragma unroll
      for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++)
          sum[i][j] += left[k][ty * EACH + i] * right[k][tx + j * SIDE];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < EACH; i++)
#pragma unroll
    for (int j = 0; j < EACH; j++)
      c[(row + ty * EACH + i) * n + column + tx + j * SIDE] += sum[i][j];
}
