#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict x, __global const double *restrict y,
    const int orio_start_i, const long orio_trips_i, const long orio_from_i,
    const long orio_first_group, __global double *restrict orio_partials_s,
    __global double *restrict orio_partials_mx)
{
  double s = 0;
  double mx = -INFINITY;
  const long orio_piece_i = (orio_trips_i - orio_from_i + (long)get_global_size(0) - 1) / (long)get_global_size(0);
  const long orio_end_i = min(orio_from_i + ((long)get_global_id(0) + 1) * orio_piece_i, orio_trips_i);
  for (long orio_i = orio_from_i + (long)get_global_id(0) * orio_piece_i; orio_i < orio_end_i; orio_i++) {
    const int i = (int)(orio_start_i - orio_i);
    s += x[i] * y[i];
    if (x[i] > mx)
      mx = x[i];
  }
  const int orio_item = get_local_id(0);
  /* One value of each item, then one of the group. */
  __local double orio_local_s[32];
  __local double orio_local_mx[32];
  orio_local_s[orio_item] = s;
  orio_local_mx[orio_item] = mx;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int orio_width = 32; orio_width > 1; orio_width = (orio_width + 1) / 2) {
    const int orio_half = (orio_width + 1) / 2;
    if (orio_item < orio_width / 2) {
      orio_local_s[orio_item] += orio_local_s[orio_item + orio_half];
      orio_local_mx[orio_item] = fmax(orio_local_mx[orio_item], orio_local_mx[orio_item + orio_half]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (orio_item == 0) {
    const long orio_group = orio_first_group + get_group_id(0);
    orio_partials_s[orio_group] = orio_local_s[0];
    orio_partials_mx[orio_group] = orio_local_mx[0];
  }
}

