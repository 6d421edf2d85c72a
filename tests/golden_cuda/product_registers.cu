extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(double *__restrict__ q,
    const double *__restrict__ p, const double *__restrict__ A, const int n, const int m,
    const long orio_elements_A, const long orio_trips_i, const long orio_trips_j)
{
  __shared__ __align__(16) double orio_tile_p[96];
  __shared__ __align__(16) double orio_tile_A[136];
  const int orio_item = threadIdx.y * 16 + threadIdx.x;
  #pragma unroll 1
  for (long orio_begin_i = (long)blockIdx.y * 16; orio_begin_i < orio_trips_i; orio_begin_i += (long)gridDim.y * 16) {
    const long orio_begin_j = (long)blockIdx.x * 32;
    const int orio_left_i = (int)min(16L, orio_trips_i - orio_begin_i);
    const int orio_left_j = (int)min(32L, orio_trips_j - orio_begin_j);
    const int orio_whole = orio_left_i == 16 && orio_left_j == 32;
    const int orio_place_i_0 = threadIdx.y;
    const long orio_i_0 = orio_begin_i + orio_place_i_0;
    const int orio_at_i_0 = (int)orio_i_0;
    const int orio_place_i_1 = threadIdx.y + 8;
    const long orio_i_1 = orio_begin_i + orio_place_i_1;
    const int orio_at_i_1 = (int)orio_i_1;
    const int orio_place_j_0 = threadIdx.x * 2;
    const long orio_j_0 = orio_begin_j + orio_place_j_0;
    const int orio_at_j_0 = (int)orio_j_0;
    const int orio_place_j_1 = threadIdx.x * 2 + 1;
    const long orio_j_1 = orio_begin_j + orio_place_j_1;
    const int orio_at_j_1 = (int)orio_j_1;
    double orio_own_scv_1_0_0 = 0;
    double orio_own_scv_1_0_1 = 0;
    double orio_own_scv_1_1_0 = 0;
    double orio_own_scv_1_1_1 = 0;
    if (orio_whole) {
      orio_own_scv_1_0_0 = q[orio_at_i_0 * 64 + orio_at_j_0];
      orio_own_scv_1_0_1 = q[orio_at_i_0 * 64 + orio_at_j_1];
      orio_own_scv_1_1_0 = q[orio_at_i_1 * 64 + orio_at_j_0];
      orio_own_scv_1_1_1 = q[orio_at_i_1 * 64 + orio_at_j_1];
    } else {
      if (orio_place_i_0 < orio_left_i && orio_place_j_0 < orio_left_j) {
        orio_own_scv_1_0_0 = q[orio_at_i_0 * 64 + orio_at_j_0];
      }
      if (orio_place_i_0 < orio_left_i && orio_place_j_1 < orio_left_j) {
        orio_own_scv_1_0_1 = q[orio_at_i_0 * 64 + orio_at_j_1];
      }
      if (orio_place_i_1 < orio_left_i && orio_place_j_0 < orio_left_j) {
        orio_own_scv_1_1_0 = q[orio_at_i_1 * 64 + orio_at_j_0];
      }
      if (orio_place_i_1 < orio_left_i && orio_place_j_1 < orio_left_j) {
        orio_own_scv_1_1_1 = q[orio_at_i_1 * 64 + orio_at_j_1];
      }
    }
    {
      const long orio_trips_k = n;
      for (long orio_begin_k = 0; orio_begin_k < orio_trips_k; orio_begin_k += 4) {
        const int orio_length_k = (int)min(4L, orio_trips_k - orio_begin_k);
        if (orio_whole && orio_length_k == 4) {
          {
            const int orio_cell = orio_item;
            if (orio_cell < 64) {
              const long i = orio_begin_i + orio_cell / 4;
              const long k = orio_begin_k + orio_cell % 4;
              const long orio_element = (long)i * 64 + k;
              orio_tile_p[orio_cell + orio_cell / 4 * 2] = p[orio_element];
            }
          }
          {
            const int orio_cell = orio_item;
            const long k = orio_begin_k + orio_cell / 32;
            const long j = orio_begin_j + orio_cell % 32;
            const long orio_element = (long)k * m + j;
            orio_tile_A[orio_cell + orio_cell / 32 * 2] = A[orio_element];
          }
        } else {
          {
            const int orio_cell = orio_item;
            if (orio_cell < 64) {
              const long i = orio_begin_i + orio_cell / 4;
              const long k = orio_begin_k + orio_cell % 4;
              const long orio_element = (long)i * 64 + k;
              if (orio_element >= 0 && orio_element < 4096)
                orio_tile_p[orio_cell + orio_cell / 4 * 2] = p[orio_element];
            }
          }
          {
            const int orio_cell = orio_item;
            const long k = orio_begin_k + orio_cell / 32;
            const long j = orio_begin_j + orio_cell % 32;
            const long orio_element = (long)k * m + j;
            if (orio_element >= 0 && orio_element < orio_elements_A)
              orio_tile_A[orio_cell + orio_cell / 32 * 2] = A[orio_element];
          }
        }
        __syncthreads();
        if (orio_whole && orio_length_k == 4) {
          #pragma unroll 4
          for (int orio_place_k = 0; orio_place_k < 4; orio_place_k++) {
            orio_own_scv_1_0_0 += orio_tile_p[orio_place_i_0 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_0];
            orio_own_scv_1_0_1 += orio_tile_p[orio_place_i_0 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_1];
            orio_own_scv_1_1_0 += orio_tile_p[orio_place_i_1 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_0];
            orio_own_scv_1_1_1 += orio_tile_p[orio_place_i_1 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_1];
          }
        } else {
          for (int orio_place_k = 0; orio_place_k < orio_length_k; orio_place_k++) {
            if (orio_place_i_0 < orio_left_i && orio_place_j_0 < orio_left_j) {
              orio_own_scv_1_0_0 += orio_tile_p[orio_place_i_0 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_0];
            }
            if (orio_place_i_0 < orio_left_i && orio_place_j_1 < orio_left_j) {
              orio_own_scv_1_0_1 += orio_tile_p[orio_place_i_0 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_1];
            }
            if (orio_place_i_1 < orio_left_i && orio_place_j_0 < orio_left_j) {
              orio_own_scv_1_1_0 += orio_tile_p[orio_place_i_1 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_0];
            }
            if (orio_place_i_1 < orio_left_i && orio_place_j_1 < orio_left_j) {
              orio_own_scv_1_1_1 += orio_tile_p[orio_place_i_1 * 6 + orio_place_k] * orio_tile_A[orio_place_k * 34 + orio_place_j_1];
            }
          }
        }
        __syncthreads();
      }
    }
    if (orio_whole) {
      q[orio_at_i_0 * 64 + orio_at_j_0] = orio_own_scv_1_0_0;
      q[orio_at_i_0 * 64 + orio_at_j_1] = orio_own_scv_1_0_1;
      q[orio_at_i_1 * 64 + orio_at_j_0] = orio_own_scv_1_1_0;
      q[orio_at_i_1 * 64 + orio_at_j_1] = orio_own_scv_1_1_1;
    } else {
      if (orio_place_i_0 < orio_left_i && orio_place_j_0 < orio_left_j) {
        q[orio_at_i_0 * 64 + orio_at_j_0] = orio_own_scv_1_0_0;
      }
      if (orio_place_i_0 < orio_left_i && orio_place_j_1 < orio_left_j) {
        q[orio_at_i_0 * 64 + orio_at_j_1] = orio_own_scv_1_0_1;
      }
      if (orio_place_i_1 < orio_left_i && orio_place_j_0 < orio_left_j) {
        q[orio_at_i_1 * 64 + orio_at_j_0] = orio_own_scv_1_1_0;
      }
      if (orio_place_i_1 < orio_left_i && orio_place_j_1 < orio_left_j) {
        q[orio_at_i_1 * 64 + orio_at_j_1] = orio_own_scv_1_1_1;
      }
    }
  }
}

