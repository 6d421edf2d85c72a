#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global const double *restrict A,
    __global double *restrict q, const int n, const int m, const long orio_elements_A,
    const long orio_trips_i, const long orio_trips_j)
{
  __local double orio_tile_p[128];
  __local double orio_tile_A[256];
  const int orio_item = get_local_id(1) * 16 + get_local_id(0);
  const int orio_place_i = get_local_id(1);
  const int orio_place_j = get_local_id(0);
  const long orio_begin_i = (long)get_group_id(1) * 8;
  const long orio_begin_j = (long)get_group_id(0) * 16;
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
          orio_tile_p[orio_cell] = p[orio_element];
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
            orio_tile_A[orio_row * 16 + orio_column] = A[orio_element];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      const int orio_length_k = (int)min(16L, orio_trips_k - orio_begin_k);
      if (orio_inside) {
        #pragma unroll 4
        for (int orio_place_k = 0; orio_place_k < orio_length_k; orio_place_k++) {
          q[i * 64 + j] += orio_tile_p[orio_place_i * 16 + orio_place_k] * orio_tile_A[orio_place_k * 16 + orio_place_j];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

