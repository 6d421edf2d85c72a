extern "C" __global__ void __maxnreg__(32) orio_cuda_k_0(const double *__restrict__ x, double *__restrict__ y,
    const double alpha, const unsigned int orio_trips_i)
{
  #pragma unroll 1
  for (unsigned int orio_i = blockIdx.x * 128 + threadIdx.x; orio_i < orio_trips_i; orio_i += gridDim.x * 128) {
    const int i = (int)orio_i;
    y[i] += alpha * x[i];
  }
}

