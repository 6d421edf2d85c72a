extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const double *__restrict__ p,
    const double *__restrict__ A, double *__restrict__ q, const int n, const int m,
    const long orio_elements_A, const long orio_trips_i, const long orio_trips_j)
{
  __shared__ double orio_tile_p[136];
  __shared__ double orio_tile_A[272];
  const int orio_item = threadIdx.y * 16 + threadIdx.x;
  const int orio_place_i = threadIdx.y;
  const int orio_place_j = threadIdx.x;
  #pragma unroll 1
  for (long orio_begin_i = (long)blockIdx.y * 8; orio_begin_i < orio_trips_i; orio_begin_i += (long)gridDim.y * 8) {
    const long orio_begin_j = (long)blockIdx.x * 16;
    const long orio_i = orio_begin_i + orio_place_i;
    const long orio_j = orio_begin_j + orio_place_j;
    const int orio_inside = orio_i < orio_trips_i && orio_j < orio_trips_j;
    const int i = (int)orio_i;
    const int j = (int)orio_j;
    {
      const long orio_trips_k = n;
      for (long orio_begin_k = 0; orio_begin_k < orio_trips_k; orio_begin_k += 16) {
        {
          const int orio_cell = orio_item;
          const long i = orio_begin_i + orio_cell / 16;
          const long k = orio_begin_k + orio_cell % 16;
          const long orio_element = (long)i * 64 + k;
          if (orio_element >= 0 && orio_element < 4096)
            orio_tile_p[orio_cell + orio_cell / 16] = p[orio_element];
        }
        {
          const int orio_column = orio_item % 16;
          const long k = orio_begin_k;
          const long j = orio_begin_j + orio_column;
          const long orio_first = (long)k * m + j;
          for (int orio_above = 0; orio_above < 16; orio_above += 8) {
            const int orio_row = orio_item / 16 + orio_above;
            const long orio_element = orio_first + (long)m * orio_row;
            if (orio_element >= 0 && orio_element < orio_elements_A)
              orio_tile_A[orio_row * 17 + orio_column] = A[orio_element];
          }
        }
        __syncthreads();
        const int orio_length_k = (int)min(16L, orio_trips_k - orio_begin_k);
        if (orio_inside) {
          #pragma unroll 4
          for (int orio_place_k = 0; orio_place_k < orio_length_k; orio_place_k++) {
            q[i * 64 + j] += orio_tile_p[orio_place_i * 17 + orio_place_k] * orio_tile_A[orio_place_k * 17 + orio_place_j];
          }
        }
        __syncthreads();
      }
    }
  }
}

