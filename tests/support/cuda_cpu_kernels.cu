/* Kernels as they should be, and kernels with one mistake each.  All of it is CUDA that nvcc compiles. */

extern "C" __global__ void axpy(const double *__restrict__ x, double *__restrict__ y, const double a, const long n)
{
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x)
    y[i] += a * x[i];
}

extern "C" __global__ void __launch_bounds__(256) matmul(const float *a, const float *b, float *c, int n)
{
  __shared__ float left[16][17], right[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 16; l++)
      sum += left[threadIdx.y][l] * right[l][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void stencil(const double *x, double *y, int n)
{
  extern __shared__ __align__(16) double tile[];
  const int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  for (int k = threadIdx.x; k < (int)blockDim.x + 2; k += blockDim.x)
    if (first + k < n)
      tile[k] = x[first + k];
  __syncthreads();
  if (i + 2 < n)
    y[i + 1] = tile[threadIdx.x] - 2.0 * tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

extern "C" __global__ void total(const double *x, double *partials, int n)
{
  __shared__ double warps[4];
  double sum = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += x[i];
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % warpSize == 0)
    warps[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    partials[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
}

/* The last block that is done adds what the others have left (CUDA C++ Programming Guide, "Memory Fence Functions"). */
extern "C" __global__ void last_block(const double *x, double *partials, double *sum, unsigned *count, int n)
{
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    double part = 0.0;
    for (int i = blockIdx.x; i < n; i += gridDim.x)
      part += x[i];
    partials[blockIdx.x] = part;
    __threadfence();
    is_last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    double all = 0.0;
    for (int k = 0; k < (int)gridDim.x; k++)
      all += partials[k];
    *sum = all;
  }
}

/* One value of each operation that a warp has, computed by thread 5 of 32. */
extern "C" __global__ void warps(long long *out)
{
  const int lane = threadIdx.x;
  long long found[16];
  found[0] = __shfl_sync(0xffffffffu, lane * 10, 3);
  found[1] = __shfl_sync(0xffffffffu, (long long)lane << 40, 9, 8);
  found[2] = __shfl_up_sync(0xffffffffu, (unsigned)lane, 2);
  found[3] = __shfl_up_sync(0xffffffffu, (long)lane, 2, 4);
  found[4] = __shfl_down_sync(0xffffffffu, (double)lane, 2);
  found[5] = __shfl_down_sync(0xffffffffu, (float)lane, 3, 8);
  found[6] = __shfl_xor_sync(0xffffffffu, (unsigned long long)lane, 16);
  found[7] = __ballot_sync(0xffffffffu, lane % 2);
  found[8] = __any_sync(0xffffffffu, lane == 31);
  found[9] = __all_sync(0xffffffffu, lane < 31);
  found[10] = __syncthreads_count(lane < 7);
  found[11] = __syncthreads_and(lane >= 0);
  found[12] = __syncthreads_or(lane == 40);
  found[13] = __reduce_add_sync(0xffffffffu, lane);
  found[14] = __reduce_max_sync(0xffffffffu, -lane);
  found[15] = lane < 8 ? __ballot_sync(0x000000ffu, 1) : 0;
  if (lane == 5)
    for (int k = 0; k < 16; k++)
      out[k] = found[k];
}

extern "C" __global__ void atomics(int *ints, float *floats, double *doubles, unsigned long long *longs)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&ints[0], i);
  atomicMin(&ints[1], -i);
  atomicMax(&ints[2], i);
  atomicOr(&ints[3], 1 << i % 8);
  atomicXor(&ints[4], 1);
  if (i == 3)
    atomicExch(&ints[5], 77);
  atomicCAS(&ints[6], 0, i + 1);
  atomicAnd(&ints[7], ~(1 << i % 4));
  atomicAdd(floats, 0.5f);
  atomicAdd(doubles, 0.25);
  atomicAdd(longs, 1ull << 33);
}

__constant__ double weights[3] = {1.0, 2.0, 3.0};
__device__ double scaled(double x) { return weights[1] * x; }

extern "C" __global__ void vectors(const float4 *x, double2 *y, unsigned char flag)
{
  const float4 v = __ldg(&x[threadIdx.x]);
  y[threadIdx.x] = make_double2(scaled(v.x + v.y), flag ? max(v.z, v.w) : 0.0);
}

extern "C" __global__ void shapes(int *out)
{
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * (int)(blockDim.x * blockDim.y * blockDim.z) + thread] = block * 100 + thread;
}

/* A tree within a warp, in order by __syncwarp. */
extern "C" __global__ void tree(const int *x, int *sum)
{
  __shared__ int part[32];
  part[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  for (int width = 16; width > 0; width /= 2) {
    if ((int)threadIdx.x < width)
      part[threadIdx.x] += part[threadIdx.x + width];
    __syncwarp();
  }
  if (threadIdx.x == 0)
    *sum = part[0];
}

/* From here on: one mistake each. */

extern "C" __global__ void no_barrier(const int *x, int *y)
{
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void no_barrier_behind(const int *x, int *y)
{
  __shared__ int tile[64];
  int sum = 0;
  for (int k = 0; k < 2; k++) {
    tile[threadIdx.x] = x[threadIdx.x + 64 * k];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}

extern "C" __global__ void shuffle_is_no_barrier(const int *x, int *y)
{
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  (void)__shfl_sync(0xffffffffu, 0, 0);
  y[threadIdx.x] = tile[31 - threadIdx.x];
}

extern "C" __global__ void blocks_race(int *sum) { *sum += (int)threadIdx.x; }

extern "C" __global__ void no_fence(double *partials, double *sum, unsigned *count)
{
  partials[blockIdx.x] = 1.0;
  if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
    *sum = 0.0;
    for (int k = 0; k < (int)gridDim.x; k++)
      *sum += partials[k];
  }
}

extern "C" __global__ void too_far(double *x, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    x[i] = i;
}

extern "C" __global__ void before(double *x) { x[(int)threadIdx.x - 2] = 0.0; }

extern "C" __global__ void inner_row(int *y)
{
  __shared__ int tile[8][8];
  tile[threadIdx.x / 8][threadIdx.x % 8] = 1;
  __syncthreads();
  y[threadIdx.x] = tile[0][threadIdx.x];
}

extern "C" __global__ void too_much_dynamic(int *y)
{
  extern __shared__ int numbers[];
  numbers[threadIdx.x] = 1;
  y[threadIdx.x] = numbers[threadIdx.x];
}

extern "C" __global__ void misaligned(float *x) { reinterpret_cast<float2 *>(x + 1)->x = 1.0f; }

extern "C" __global__ void null_pointer(int *x, int *y) { y[threadIdx.x] = *x; }

extern "C" __global__ void divergent(int *x)
{
  if (threadIdx.x < 48)
    __syncthreads();
  x[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(int *x)
{
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads();
  x[threadIdx.x] = 1;
}

extern "C" __global__ void barrier_against_shuffle(int *x)
{
  if (threadIdx.x < 16)
    __syncthreads();
  else
    x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1, 1);
}

extern "C" __global__ void half_mask(int *x)
{
  if (threadIdx.x < 16)
    x[threadIdx.x] = __shfl_down_sync(0xffffffffu, (int)threadIdx.x, 1);
}

extern "C" __global__ void not_in_mask(int *x) { x[threadIdx.x] = __shfl_sync(0x0000ffffu, (int)threadIdx.x, 0); }

extern "C" __global__ void reads_outside_mask(int *x)
{
  if (threadIdx.x < 16)
    x[threadIdx.x] = __shfl_down_sync(0x0000ffffu, (int)threadIdx.x, 1);
}

extern "C" __global__ void short_warp(int *x)
{
  int sum = x[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0)
    *x = sum;
}

extern "C" __global__ void nobody_wrote(double *y)
{
  __shared__ double tile[32];
  if (threadIdx.x != 5)
    tile[threadIdx.x] = 1.0;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void overflows(int *x) { x[threadIdx.x] += 2147483000 + (int)threadIdx.x; }
