#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global double *restrict q,
    const long orio_rows_p, const long orio_rows_q, const long orio_trips_j,
    const long orio_trips_i)
{
  __local double orio_tile_p[108];
  const int orio_item = get_local_id(1) * 16 + get_local_id(0);
  const int orio_place_j = get_local_id(1);
  const int orio_place_i = get_local_id(0);
  const long orio_begin_j = (long)get_group_id(1) * 4;
  const long orio_begin_i = (long)get_group_id(0) * 16;
  for (int orio_cell = orio_item; orio_cell < 108; orio_cell += 64) {
    const long j = orio_begin_j + orio_cell / 18;
    const long i = orio_begin_i + orio_cell % 18;
    const long orio_element = (long)j * orio_rows_p + i;
    if (orio_element >= 0 && orio_element < 4096)
      orio_tile_p[orio_cell] = p[orio_element];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const long orio_j = orio_begin_j + orio_place_j;
  const long orio_i = orio_begin_i + orio_place_i;
  if (orio_j < orio_trips_j && orio_i < orio_trips_i) {
    const int j = (int)(1 + orio_j);
    const int i = (int)(1 + orio_i);
    q[j * orio_rows_q + i] = orio_tile_p[(orio_place_j + 1) * 18 + orio_place_i] + orio_tile_p[(orio_place_j + 1) * 18 + orio_place_i + 2] + orio_tile_p[orio_place_j * 18 + orio_place_i + 1] + orio_tile_p[(orio_place_j + 2) * 18 + orio_place_i + 1];
  }
}

