extern "C" __global__ void __launch_bounds__(64) orio_cuda_k_0(const double *__restrict__ p,
    double *__restrict__ q, const long orio_trips_i, const long orio_trips_j)
{
  __shared__ double orio_tile_p[114];
  const int orio_item = threadIdx.y * 16 + threadIdx.x;
  const int orio_place_i = threadIdx.y;
  const int orio_place_j = threadIdx.x;
  #pragma unroll 1
  for (long orio_begin_i = (long)blockIdx.y * 4; orio_begin_i < orio_trips_i; orio_begin_i += (long)gridDim.y * 4) {
    const long orio_begin_j = (long)blockIdx.x * 16;
    for (int orio_cell = orio_item; orio_cell < 108; orio_cell += 64) {
      const long i = orio_begin_i + orio_cell / 18;
      const long j = orio_begin_j + orio_cell % 18;
      const long orio_element = (long)i * 64 + j;
      if (orio_element >= 0 && orio_element < 4096)
        orio_tile_p[orio_cell + orio_cell / 18] = p[orio_element];
    }
    __syncthreads();
    const long orio_i = orio_begin_i + orio_place_i;
    const long orio_j = orio_begin_j + orio_place_j;
    if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
      const int i = (int)(1 + orio_i);
      const int j = (int)(1 + orio_j);
      q[i * 64 + j] = orio_tile_p[orio_place_i * 19 + orio_place_j + 1] + orio_tile_p[(orio_place_i + 2) * 19 + orio_place_j + 1] + orio_tile_p[(orio_place_i + 1) * 19 + orio_place_j] + orio_tile_p[(orio_place_i + 1) * 19 + orio_place_j + 2];
    }
    __syncthreads();
  }
}

