extern "C" __global__ void __launch_bounds__(64, 4) orio_cuda_k_0(const double *__restrict__ x,
    double *__restrict__ y, const double alpha, const unsigned int orio_trips_i)
{
  const unsigned int orio_i = blockIdx.x * 64 + threadIdx.x;
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    y[i] += alpha * x[i];
  }
}

