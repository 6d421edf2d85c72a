extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const double *__restrict__ p,
    double *__restrict__ q, const long orio_trips_i, const long orio_trips_j, const long orio_from_i)
{
  #pragma unroll 1
  for (long orio_i = orio_from_i + ((long)blockIdx.y * 4 + threadIdx.y); orio_i < orio_trips_i; orio_i += (long)gridDim.y * 4) {
    const long orio_j = (long)blockIdx.x * 32 + threadIdx.x;
    if (orio_j < orio_trips_j) {
      const int i = (int)(1 + orio_i);
      const int j = (int)(1 + orio_j);
      q[i * 64 + j] = p[(i - 1) * 64 + j] + p[(i + 1) * 64 + j] + p[i * 64 + j - 1] + p[i * 64 + j + 1];
    }
  }
}

