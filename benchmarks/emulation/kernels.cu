// Kernels of the benchmark of emulations: what a GPU is used for, each in its usual form and some in a worse one.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define GRID (gridDim.x * blockDim.x)

extern "C" {

// --- streams ---

__global__ void copy(int n, const float *__restrict__ x, float *__restrict__ y)
{
  int i = AT;
  if (i < n)
    y[i] = x[i];
}

__global__ void copy_four(int n, const float4 *__restrict__ x, float4 *__restrict__ y)
{
  int i = AT;
  if (i < n)
    y[i] = x[i];
}

__global__ void copy_strided(int n, int stride, const float *__restrict__ x, float *__restrict__ y)
{
  int i = AT;
  if (i < n)
    y[i] = x[(long)i * stride % n];
}

__global__ void triad(int n, const double *__restrict__ x, const double *__restrict__ y, double *__restrict__ z)
{
  int i = AT;
  if (i < n)
    z[i] = 1.2 * x[i] + y[i];
}

__global__ void axpy_loop(int n, const double *__restrict__ x, double *__restrict__ y)
{
  for (int i = AT; i < n; i += GRID)
    y[i] += 0.5 * x[i];
}

// --- stencils ---

__global__ void heat2d(int n, const float *__restrict__ u, float *__restrict__ v)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i < n - 1 && j < n - 1)
    v[j * n + i] = u[j * n + i]
                   + 0.1f * (u[j * n + i - 1] + u[j * n + i + 1] + u[(j - 1) * n + i] + u[(j + 1) * n + i] - 4.0f * u[j * n + i]);
}

__global__ void stencil7(int n, const double *__restrict__ u, double *__restrict__ v)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  int k = blockIdx.z * blockDim.z + threadIdx.z + 1, at = (k * n + j) * n + i;
  if (i < n - 1 && j < n - 1 && k < n - 1)
    v[at] = 0.4 * u[at] + 0.1 * (u[at - 1] + u[at + 1] + u[at - n] + u[at + n] + u[at - n * n] + u[at + n * n]);
}

// --- products of matrices ---

__global__ void mm_naive(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int k = 0; k < n; k++)
    s += a[i * n + k] * b[k * n + j];
  c[i * n + j] = s;
}

__global__ void mm_tiled(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
  __shared__ float left[32][32], right[32][32];
  int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  float s = 0.0f;
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

// 64 x 64 elements of C for 16 x 16 threads.
__global__ void mm_registers(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
  __shared__ float left[16][65], right[16][64];
  int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = blockIdx.y * 64, column = blockIdx.x * 64;
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
          s[i][j] += left[q][y * 4 + i] * right[q][x + j * 16];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      c[(row + y * 4 + i) * n + column + x + j * 16] = s[i][j];
}

// --- sums ---

__global__ void sum_shared(int n, const float *__restrict__ x, float *__restrict__ sums)
{
  __shared__ float part[1024];
  float s = 0.0f;
  for (int i = AT; i < n; i += GRID)
    s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = part[0];
}

__global__ void sum_shuffled(int n, const float *__restrict__ x, float *__restrict__ sums)
{
  __shared__ float part[32];
  float s = 0.0f;
  for (int i = AT; i < n; i += GRID)
    s += x[i];
#pragma unroll
  for (int d = 16; d > 0; d /= 2)
    s += __shfl_down_sync(0xffffffffu, s, d);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < (blockDim.x + 31) / 32; w++)
      s += part[w];
    sums[blockIdx.x] = s;
  }
}

// --- transpositions, 32 x 32 elements for 32 x 8 threads ---

__global__ void transpose_naive(int n, const float *__restrict__ x, float *__restrict__ y)
{
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    y[i * n + j + k] = x[(j + k) * n + i];
}

__global__ void transpose_conflicts(int n, const float *__restrict__ x, float *__restrict__ y)
{
  __shared__ float tile[32][32];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i];
  __syncthreads();
  i = blockIdx.y * 32 + threadIdx.x, j = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    y[(j + k) * n + i] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void transpose_padded(int n, const float *__restrict__ x, float *__restrict__ y)
{
  __shared__ float tile[32][33];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i];
  __syncthreads();
  i = blockIdx.y * 32 + threadIdx.x, j = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8)
    y[(j + k) * n + i] = tile[threadIdx.x][threadIdx.y + k];
}

// --- arithmetic ---

__global__ void sines(int n, int m, float *__restrict__ x)
{
  int i = AT;
  float s = 0.001f * i;
  for (int k = 0; k < m; k++)
    s = __sinf(s) + __expf(s);
  if (i < n)
    x[i] = s;
}

__global__ void floats(int n, int m, float *__restrict__ x)
{
  int i = AT;
  float a = i, b = i + 1, c = i + 2, d = i + 3;
  for (int k = 0; k < m; k++) {
    a = a * 0.5f + 1.0f;
    b = b * 0.5f + 1.0f;
    c = c * 0.5f + 1.0f;
    d = d * 0.5f + 1.0f;
  }
  if (i < n)
    x[i] = a + b + c + d;
}

__global__ void doubles(int n, int m, double *__restrict__ x)
{
  int i = AT;
  double a = i, b = i + 1, c = i + 2, d = i + 3;
  for (int k = 0; k < m; k++) {
    a = a * 0.5 + 1.0;
    b = b * 0.5 + 1.0;
    c = c * 0.5 + 1.0;
    d = d * 0.5 + 1.0;
  }
  if (i < n)
    x[i] = a + b + c + d;
}

__global__ void hashes(int n, int m, unsigned *__restrict__ x)
{
  int i = AT;
  unsigned h = i;
  for (int k = 0; k < m; k++)
    h = (h ^ (h >> 15)) * 2246822519u + k;
  if (i < n)
    x[i] = h;
}

// --- ways and addresses that threads do not share ---

__global__ void divergent(int n, int m, int period, float *__restrict__ x)
{
  int i = AT;
  float s = 0.5f * i;
  for (int k = 0; k < m; k++) {
    if (i / (32 / period) % 2)
      for (int q = 0; q < 8; q++)
        s = s * 0.9f + q;
    else
      for (int q = 0; q < 8; q++)
        s = s * 1.1f - q;
  }
  if (i < n)
    x[i] = s;
}

__global__ void gather(int n, int size, const float *__restrict__ table, float *__restrict__ y)
{
  int i = AT;
  if (i < n)
    y[i] = table[(unsigned)i * 2654435761u % (unsigned)size];
}

// --- a tensor contraction: t3(h3,h2,h1,p6,p5,p4) -= t2(h7,p4,p5,h1) * v2(h3,h2,p6,h7) ---
// 16 x 16 threads: x is h3, y is p4; a block for each h2, p6 and pair of h1 and p5.

__global__ void sd_t_d1_1(int n, const double *__restrict__ t2, const double *__restrict__ v2, double *__restrict__ t3)
{
  __shared__ double left[16][17], right[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int h2 = blockIdx.x, p6 = blockIdx.y, h1 = blockIdx.z % n, p5 = blockIdx.z / n;
  double s = 0.0;
  for (int t = 0; t < n; t += 16) {
    left[y][x] = t2[((h1 * n + p5) * n + y) * n + t + x];
    right[y][x] = v2[(((t + y) * n + p6) * n + h2) * n + x];
    __syncthreads();
#pragma unroll
    for (int h7 = 0; h7 < 16; h7++)
      s += left[y][h7] * right[h7][x];
    __syncthreads();
  }
  t3[((((y * n + p5) * n + p6) * n + h1) * n + h2) * n + x] -= s;
}

}
