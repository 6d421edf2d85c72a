// Kernels whose times others have published, written anew: see published.csv for the source of each.
#define AT (blockIdx.x * (long)blockDim.x + threadIdx.x)

extern "C" {

__global__ void init(long n, double *a, const double *__restrict__ b, const double *__restrict__ c)
{
  long i = AT;
  if (i < n)
    a[i] = 0.23;
}

__global__ void read(long n, double *a, const double *__restrict__ b, const double *__restrict__ c)
{
  long i = AT;
  if (i < n) {
    double x = b[i];
    if (x == 123.0)
      a[i] = x;
  }
}

__global__ void scale(long n, double *a, const double *__restrict__ b, const double *__restrict__ c)
{
  long i = AT;
  if (i < n)
    a[i] = 1.2 * b[i];
}

__global__ void triad(long n, double *a, const double *__restrict__ b, const double *__restrict__ c)
{
  long i = AT;
  if (i < n)
    a[i] = 1.2 * b[i] + c[i];
}

__global__ void points3(long n, double *a, const double *__restrict__ b, const double *__restrict__ c)
{
  long i = AT;
  if (i > 0 && i < n - 1)
    a[i] = 0.5 * b[i - 1] - b[i] + 0.5 * b[i + 1];
}

__global__ void points5(long n, double *a, const double *__restrict__ b, const double *__restrict__ c)
{
  long i = AT;
  if (i > 1 && i < n - 2)
    a[i] = 0.25 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.5 * b[i + 1] + 0.5 * b[i + 2];
}

// --- C = alpha A B + beta C, step by step ---

// Neighbours in x go down a column of C.
__global__ void product_columns(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; k++)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Neighbours go along a row of C: 32 x 32 elements for 1024 threads.
__global__ void product_rows(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
  int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
  float sum = 0.0f;
  for (int k = 0; k < n; k++)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

__global__ void product_shared(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
  __shared__ float left[32 * 32], right[32 * 32];
  unsigned x = threadIdx.x % 32, y = threadIdx.x / 32, row = blockIdx.x * 32, column = blockIdx.y * 32;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 32) {
    left[y * 32 + x] = a[(row + y) * n + t + x];
    right[y * 32 + x] = b[(t + y) * n + column + x];
    __syncthreads();
    for (int k = 0; k < 32; k++)
      sum += left[y * 32 + k] * right[k * 32 + x];
    __syncthreads();
  }
  c[(row + y) * n + column + x] = alpha * sum + beta * c[(row + y) * n + column + x];
}

// 64 x 64 elements for 512 threads, eight rows each.
__global__ void product_strips(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
  __shared__ float left[64 * 8], right[8 * 64];
  unsigned row = blockIdx.y * 64, column = blockIdx.x * 64, x = threadIdx.x % 64, y = threadIdx.x / 64;
  float sums[8] = {0.0f};
  for (int t = 0; t < n; t += 8) {
    left[threadIdx.x] = a[(row + threadIdx.x / 8) * n + t + threadIdx.x % 8];
    right[threadIdx.x] = b[(t + y) * n + column + x];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float one = right[k * 64 + x];
      for (int i = 0; i < 8; i++)
        sums[i] += left[(y * 8 + i) * 8 + k] * one;
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    c[(row + y * 8 + i) * n + column + x] = alpha * sums[i] + beta * c[(row + y * 8 + i) * n + column + x];
}

// 128 x 128 elements for 256 threads, 8 x 8 each.
__global__ void __launch_bounds__(256, 1)
    product_squares(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
  __shared__ float left[128 * 8], right[8 * 128];
  unsigned row = blockIdx.y * 128, column = blockIdx.x * 128, x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sums[64] = {0.0f}, down[8] = {0.0f}, along[8] = {0.0f};
  for (int t = 0; t < n; t += 8) {
    for (unsigned e = threadIdx.x; e < 1024; e += 256) {
      left[e] = a[(row + e / 8) * n + t + e % 8];
      right[e] = b[(t + e / 128) * n + column + e % 128];
    }
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      for (int i = 0; i < 8; i++)
        down[i] = left[(y * 8 + i) * 8 + k];
      for (int j = 0; j < 8; j++)
        along[j] = right[k * 128 + x * 8 + j];
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
          sums[i * 8 + j] += down[i] * along[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      unsigned at = (row + y * 8 + i) * n + column + x * 8 + j;
      c[at] = alpha * sums[i * 8 + j] + beta * c[at];
    }
}

}
