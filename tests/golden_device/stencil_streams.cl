#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global double *restrict q,
    const long orio_trips_i, const long orio_trips_j, const long orio_from_i)
{
  __local double orio_tile_p[108];
  const int orio_item = get_local_id(1) * 16 + get_local_id(0);
  const int orio_place_i = get_local_id(1);
  const int orio_place_j = get_local_id(0);
  for (long orio_begin_i = orio_from_i + (long)get_group_id(1) * 4; orio_begin_i < orio_trips_i; orio_begin_i += (long)get_num_groups(1) * 4) {
    for (long orio_begin_j = (long)get_group_id(0) * 16; orio_begin_j < orio_trips_j; orio_begin_j += (long)get_num_groups(0) * 16) {
      for (int orio_cell = orio_item; orio_cell < 108; orio_cell += 64) {
        const long i = orio_begin_i + orio_cell / 18;
        const long j = orio_begin_j + orio_cell % 18;
        const long orio_element = (long)i * 64 + j;
        if (orio_element >= 0 && orio_element < 4096)
          orio_tile_p[orio_cell] = p[orio_element];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      const long orio_i = orio_begin_i + orio_place_i;
      const long orio_j = orio_begin_j + orio_place_j;
      if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
        const int i = (int)(1 + orio_i);
        const int j = (int)(1 + orio_j);
        q[i * 64 + j] = orio_tile_p[orio_place_i * 18 + orio_place_j + 1] + orio_tile_p[(orio_place_i + 2) * 18 + orio_place_j + 1] + orio_tile_p[(orio_place_i + 1) * 18 + orio_place_j] + orio_tile_p[(orio_place_i + 1) * 18 + orio_place_j + 2];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

