extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const double *__restrict__ x,
    double *__restrict__ y, const long orio_trips_w)
{
  const long orio_piece_w = (orio_trips_w + (long)gridDim.x * 128 - 1) / ((long)gridDim.x * 128);
  const long orio_end_w = min(((long)blockIdx.x * 128 + threadIdx.x + 1) * orio_piece_w, orio_trips_w);
  #pragma unroll 4
  for (long w = ((long)blockIdx.x * 128 + threadIdx.x) * orio_piece_w; w < orio_end_w; w++) {
    y[w] += x[w];
  }
}

