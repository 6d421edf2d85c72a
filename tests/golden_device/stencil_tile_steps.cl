#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict x,
    __global const uchar *restrict bytes, __global double *restrict y, const long orio_first_x,
    const long orio_first_bytes, const long orio_first_y, const long orio_elements_x,
    const int orio_start_i, const long orio_trips_i, __global double *restrict orio_partials_s)
{
  __local double orio_tile_x[67];
  double s = 0;
  const int orio_item = get_local_id(0);
  const int orio_place_i = get_local_id(0);
  for (long orio_begin_i = (long)get_group_id(0) * 32; orio_begin_i < orio_trips_i; orio_begin_i += (long)get_num_groups(0) * 32) {
    for (int orio_cell = orio_item; orio_cell < 67; orio_cell += 32) {
      const long i = orio_start_i - orio_begin_i * 2 + orio_cell - 64;
      const long orio_element = i - orio_first_x;
      if (orio_element >= 0 && orio_element < orio_elements_x)
        orio_tile_x[orio_cell] = x[orio_element];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long orio_i = orio_begin_i + orio_place_i;
    if (orio_i < orio_trips_i) {
      const int i = (int)(orio_start_i - 2 * orio_i);
      y[i - orio_first_y] = orio_tile_x[62 - orio_place_i * 2] + orio_tile_x[66 - orio_place_i * 2] + bytes[i - 1 - orio_first_bytes];
      s += orio_tile_x[64 - orio_place_i * 2];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  /* One value of each item, then one of the group. */
  __local double orio_local_s[32];
  orio_local_s[orio_item] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int orio_width = 32; orio_width > 1; orio_width = (orio_width + 1) / 2) {
    const int orio_half = (orio_width + 1) / 2;
    if (orio_item < orio_width / 2) {
      orio_local_s[orio_item] += orio_local_s[orio_item + orio_half];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (orio_item == 0) {
    const long orio_group = get_group_id(0);
    orio_partials_s[orio_group] = orio_local_s[0];
  }
}

