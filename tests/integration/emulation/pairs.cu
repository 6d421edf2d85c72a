// Pairs of kernels of which one is beyond doubt faster: what the emulation has to agree with.
#define G(n) blockIdx.x * blockDim.x + threadIdx.x

// A warp reads elements that lie STRIDE apart.
template <int STRIDE> __device__ __forceinline__ float banks(int n)
{
  __shared__ float t[4096];
  float s = 0;
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) t[k] = k;
  __syncthreads();
#pragma unroll 4
  for (int k = 0; k < n; k++) s += t[(threadIdx.x * STRIDE + k) % 4096];
  return s;
}
extern "C" {

__global__ void mm_naive(int n, const float *a, const float *b, float *c)
{
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = 0; k < n; k++)
    s += a[i * n + k] * b[k * n + j];
  c[i * n + j] = s;
}

__global__ void mm_tiled(int n, const float *a, const float *b, float *c)
{
  __shared__ float left[32][32], right[32][32];
  int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  float s = 0;
  for (int t = 0; t < n; t += 32) {
    left[threadIdx.y][threadIdx.x] = a[i * n + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + j];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++)
      s += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[i * n + j] = s;
}

// 64 x 64 elements of C for 16 x 16 threads, 4 x 4 in the registers of each.
__global__ void mm_registers(int n, const float *a, const float *b, float *c)
{
  __shared__ float left[16][65], right[16][64];
  int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float s[4][4] = {};
  for (int k = 0; k < n; k += 16) {
#pragma unroll
    for (int e = t; e < 1024; e += 256) {
      left[e % 16][e / 16] = a[(row + e / 16) * n + k + e % 16];
      right[e / 64][e % 64] = b[(k + e / 64) * n + column + e % 64];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; q++)
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          s[i][j] += left[q][y * 4 + i] * right[q][x + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      c[(row + y * 4 + i) * n + column + x + 16 * j] = s[i][j];
}

__global__ void copy(int n, const float *x, float *y) { int i = G(); if (i < n) y[i] = x[i]; }
__global__ void copy_strided(int n, const float *x, float *y) { int i = G(); if (i < n) y[32 * i] = x[32 * i]; }
__global__ void copy_shifted(int n, const float *x, float *y) { int i = G(); if (i < n) y[i + 1] = x[i + 1]; }
__global__ void copy_four(int n, const float4 *x, float4 *y) { int i = G(); if (i < n) y[i] = x[i]; }

__global__ void members_together(int n, const float *x, float *y) { int i = G(); y[i] = x[8 * i]; }
__global__ void members_apart(int n, const float *x, float *y) { int i = G(); y[i] = x[8 * n + i]; }

__global__ void transpose_naive(int n, const float *x, float *y)
{
  int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8)
    y[j * n + i + k] = x[(i + k) * n + j];
}
__global__ void transpose_conflicts(int n, const float *x, float *y)
{
  __shared__ float t[32][32];
  int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = x[(i + k) * n + j];
  __syncthreads();
  i = blockIdx.x * 32 + threadIdx.y, j = blockIdx.y * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) y[(i + k) * n + j] = t[threadIdx.x][threadIdx.y + k];
}
__global__ void transpose_padded(int n, const float *x, float *y)
{
  __shared__ float t[32][33];
  int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = x[(i + k) * n + j];
  __syncthreads();
  i = blockIdx.x * 32 + threadIdx.y, j = blockIdx.y * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) y[(i + k) * n + j] = t[threadIdx.x][threadIdx.y + k];
}

__global__ void by_rows(int n, const float *a, float *y)
{
  int i = G();
  float s = 0;
  for (int k = 0; k < n; k++) s += a[i * n + k];
  y[i] = s;
}
__global__ void by_columns(int n, const float *a, float *y)
{
  int i = G();
  float s = 0;
  for (int k = 0; k < n; k++) s += a[k * n + i];
  y[i] = s;
}

__device__ __forceinline__ float many(int n, const float *x)
{
  float v[40], s = 0;
#pragma unroll
  for (int k = 0; k < 40; k++) v[k] = x[threadIdx.x + 1024 * k];
  for (int t = 0; t < n; t++)
#pragma unroll
    for (int k = 0; k < 40; k++) v[k] = v[k] * v[(k + 1) % 40] + 1.0f;
#pragma unroll
  for (int k = 0; k < 40; k++) s += v[k];
  return s;
}
__global__ void __launch_bounds__(1024, 1) registers_enough(int n, const float *x, float *y) { y[G()] = many(n, x); }
__global__ void __launch_bounds__(1024, 2) registers_spilled(int n, const float *x, float *y) { y[G()] = many(n, x); }

__global__ void multiply(int n, int m, int *y)
{
  int s = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; k++) s = (s + k) * m;
  y[G()] = s;
}
__global__ void divide(int n, int m, int *y)
{
  int s = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; k++) s = (s + k) / m;
  y[G()] = s;
}
__global__ void float_multiply(int n, float f, float *y)
{
  float s = y[G()];
#pragma unroll 1
  for (int k = 0; k < n; k++) s = (s + 1.0f) * f;
  y[G()] = s;
}
__global__ void floats(int n, float f, float *y)
{
  float s = y[G()];
#pragma unroll 16
  for (int k = 0; k < n; k++) s = (s + 1.0f) * f;
  y[G()] = s;
}
__global__ void doubles(int n, double f, double *y)
{
  double s = y[G()];
#pragma unroll 16
  for (int k = 0; k < n; k++) s = (s + 1.0) * f;
  y[G()] = s;
}
__global__ void float_divide(int n, float f, float *y)
{
  float s = y[G()];
#pragma unroll 1
  for (int k = 0; k < n; k++) s = (s + 1.0f) / f;
  y[G()] = s;
}
__global__ void sine(int n, float f, float *y)
{
  float s = y[G()];
#pragma unroll 1
  for (int k = 0; k < n; k++) s = __sinf(s) + __cosf(s + f);
  y[G()] = s;
}
__global__ void one_chain(int n, const float *x, float *y)
{
  float s = 0;
  for (int k = 0; k < n; k++) s = s * x[0] + 1.0f;
  y[G()] = s;
}
__global__ void four_chains(int n, const float *x, float *y)
{
  float s = 0, t = 1, u = 2, v = 3;
  for (int k = 0; k < n / 4; k++) {
    s = s * x[0] + 1.0f; t = t * x[0] + 1.0f; u = u * x[0] + 1.0f; v = v * x[0] + 1.0f;
  }
  y[G()] = s + t + u + v;
}

__global__ void rolled(int n, float f, float *y)
{
  float s = f, t = f, u = f, v = f;
#pragma unroll 1
  for (int k = 0; k < n; k++) { s = s * f + f; t = t * f + f; u = u * f + f; v = v * f + f; }
  y[G()] = s + t + u + v;
}
__global__ void unrolled(int n, float f, float *y)
{
  float s = f, t = f, u = f, v = f;
#pragma unroll 8
  for (int k = 0; k < n; k++) { s = s * f + f; t = t * f + f; u = u * f + f; v = v * f + f; }
  y[G()] = s + t + u + v;
}

__global__ void together(int n, float f, float *y)
{
  float s = f;
  for (int k = 0; k < n; k++) s = s * f + k;
  y[G()] = s;
}
__global__ void divergent(int n, float f, float *y)
{
  float s = f;
  if (threadIdx.x % 2) { for (int k = 0; k < n; k++) s = s * f + k; }
  else { for (int k = 0; k < n; k++) s = s * s - k; }
  y[G()] = s;
}

__global__ void banks_1(int n, float *y) { y[G()] = banks<1>(n); }
__global__ void banks_8(int n, float *y) { y[G()] = banks<8>(n); }
__global__ void banks_32(int n, float *y) { y[G()] = banks<32>(n); }

__global__ void meets(int n, float f, float *y)
{
  float s = f;
#pragma unroll 1
  for (int k = 0; k < n; k++) { s = s * f + k; __syncthreads(); }
  y[G()] = s;
}
__global__ void meets_not(int n, float f, float *y)
{
  float s = f;
#pragma unroll 1
  for (int k = 0; k < n; k++) s = s * f + k;
  y[G()] = s;
}

__global__ void stream(int n, const float *x, float *y) { for (int i = G(); i < n; i += gridDim.x * blockDim.x) y[i] = x[i]; }
__global__ void table(int n, int size, const float *x, float *y)
{
  float s = 0;
  int i = G();
  for (int k = 0; k < n; k++) s += x[(i + 4096 * k) & (size - 1)];
  y[i] = s;
}
__global__ void crowded(int n, const float *x, float *y)
{
  __shared__ float t[10240];
  int i = G();
  t[threadIdx.x] = x[i];
  for (int k = 1; k < 8; k++) t[threadIdx.x] += x[i + k * n];
  y[i] = t[threadIdx.x];
}
__global__ void roomy(int n, const float *x, float *y)
{
  __shared__ float t[256];
  int i = G();
  t[threadIdx.x] = x[i];
  for (int k = 1; k < 8; k++) t[threadIdx.x] += x[i + k * n];
  y[i] = t[threadIdx.x];
}
}
