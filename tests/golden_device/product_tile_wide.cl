#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global double *restrict q, __global const double *restrict p,
    __global const double *restrict A, const int n, const int count, const int m,
    const double alpha, const long orio_first_A, const long orio_elements_A,
    const long orio_trips_i, const long orio_trips_j)
{
  __local double orio_tile_p[504];
  __local double orio_tile_A[1008];
  const int orio_item = get_local_id(1) * 16 + get_local_id(0);
  const int orio_place_j = get_local_id(0);
  for (long orio_begin_i = (long)get_group_id(1) * 8; orio_begin_i < orio_trips_i; orio_begin_i += (long)get_num_groups(1) * 8) {
    for (long orio_begin_j = (long)get_group_id(0) * 16; orio_begin_j < orio_trips_j; orio_begin_j += (long)get_num_groups(0) * 16) {
      for (int orio_place_i = get_local_id(1); orio_place_i < 8; orio_place_i += 2) {
        const long orio_i = orio_begin_i + orio_place_i;
        const long orio_j = orio_begin_j + orio_place_j;
        if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
          const int i = (int)orio_i;
          const int j = (int)orio_j;
          q[i * 64 + j] = 0;
        }
      }
      {
        const int orio_start_k = n - 1;
        const long orio_trips_k = ((long)n - count + 1) / 2;
        for (long orio_begin_k = 0; orio_begin_k < orio_trips_k; orio_begin_k += 32) {
          for (int orio_cell = orio_item; orio_cell < 504; orio_cell += 32) {
            const long i = orio_begin_i + orio_cell / 63;
            const long k = orio_start_k - orio_begin_k * 2 + orio_cell % 63 - 62;
            const long orio_element = (long)i * 64 + k;
            if (orio_element >= 0 && orio_element < 4096)
              orio_tile_p[orio_cell] = p[orio_element];
          }
          for (int orio_cell = orio_item; orio_cell < 1008; orio_cell += 32) {
            const long k = orio_start_k - orio_begin_k * 2 + orio_cell / 16 - 62;
            const long j = orio_begin_j + orio_cell % 16;
            const long orio_element = (long)k * m + j - orio_first_A;
            if (orio_element >= 0 && orio_element < orio_elements_A)
              orio_tile_A[orio_cell] = A[orio_element];
          }
          barrier(CLK_LOCAL_MEM_FENCE);
          const int orio_length_k = (int)min(32L, orio_trips_k - orio_begin_k);
          for (int orio_place_i = get_local_id(1); orio_place_i < 8; orio_place_i += 2) {
            const long orio_i = orio_begin_i + orio_place_i;
            const long orio_j = orio_begin_j + orio_place_j;
            if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
              const int i = (int)orio_i;
              const int j = (int)orio_j;
              for (int orio_place_k = 0; orio_place_k < orio_length_k; orio_place_k++) {
                q[i * 64 + j] += orio_tile_p[orio_place_i * 63 + 62 - orio_place_k * 2] * orio_tile_A[(62 - orio_place_k * 2) * 16 + orio_place_j];
              }
            }
          }
          barrier(CLK_LOCAL_MEM_FENCE);
        }
      }
      for (int orio_place_i = get_local_id(1); orio_place_i < 8; orio_place_i += 2) {
        const long orio_i = orio_begin_i + orio_place_i;
        const long orio_j = orio_begin_j + orio_place_j;
        if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
          const int i = (int)orio_i;
          const int j = (int)orio_j;
          q[i * 64 + j] *= alpha;
        }
      }
    }
  }
}

