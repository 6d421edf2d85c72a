#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict A, __global const double *restrict x,
    __global double *restrict y, const int m, const long orio_elements_x, const long orio_trips_i)
{
  __local double orio_tile_x[64];
  const int orio_item = get_local_id(0);
  const int orio_place_i = get_local_id(0);
  const long orio_begin_i = (long)get_group_id(0) * 64;
  const long orio_i = orio_begin_i + orio_place_i;
  const int orio_inside = orio_i < orio_trips_i;
  const int i = (int)orio_i;
  double t;
  if (orio_inside) {
    t = 0;
  }
  {
    const long orio_trips_j = m;
    for (long orio_begin_j = 0; orio_begin_j < orio_trips_j; orio_begin_j += 64) {
      {
        const int orio_cell = orio_item;
        const long j = orio_begin_j + orio_cell;
        const long orio_element = j;
        if (orio_element >= 0 && orio_element < orio_elements_x)
          orio_tile_x[orio_cell] = x[orio_element];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      const int orio_length_j = (int)min(64L, orio_trips_j - orio_begin_j);
      if (orio_inside) {
        for (int orio_place_j = 0; orio_place_j < orio_length_j; orio_place_j++) {
          const int j = (int)(orio_begin_j + orio_place_j);
          t += A[i * m + j] * orio_tile_x[orio_place_j];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  if (orio_inside) {
    y[i] = t;
  }
}

