/* Kernels for the reader of cubins: what each of them uses stands in the messages beside the cubins.
   `python tests/support/stored_cubins.py` compiles this text and writes both. */

extern "C" __global__ void __launch_bounds__(128) scale(int n, double a, double *x)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] *= a;
}

extern "C" __global__ void turn(const float *a, float *b)
{
  __shared__ float tile[16][17];

  tile[threadIdx.y][threadIdx.x] = a[16 * threadIdx.y + threadIdx.x];
  __syncthreads();
  b[16 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void spilled(int n, double *x)
{
  double kept[16];

#pragma unroll
  for (int k = 0; k < 16; k++)
    kept[k] = x[n * k + threadIdx.x];
#pragma unroll
  for (int k = 0; k < 16; k++)
    kept[k] *= kept[(7 * k + 3) % 16];
#pragma unroll
  for (int k = 0; k < 16; k++)
    x[n * k + threadIdx.x] = kept[k];
}

__device__ __noinline__ int steps(int n)
{
  return n < 2 ? n : steps(n - 1) + steps(n - 2);
}

extern "C" __global__ void recursive(int *x)
{
  *x = steps(*x);
}

extern "C" __global__ void without_parameters()
{
}
