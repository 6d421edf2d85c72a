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

}
