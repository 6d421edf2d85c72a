// threads per block: 256
extern "C" __global__ void vecaxpy(int n, double alpha, const double *__restrict__ x, double *__restrict__ y)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] += alpha * x[i];
}
