#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, const uint orio_trips_i,
    const uint orio_trips_j, __global double *restrict orio_partials_s)
{
  double s = 0;
  const uint orio_i = get_global_id(1);
  const uint orio_j = get_global_id(0);
  if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
    const int i = (int)orio_i;
    const int j = (int)orio_j;
    s += p[i * 64 + j];
  }
  const int orio_item = get_local_id(1) * 8 + get_local_id(0);
  /* One value of each item, then one of the group. */
  __local double orio_local_s[64];
  orio_local_s[orio_item] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int orio_width = 64; orio_width > 1; orio_width = (orio_width + 1) / 2) {
    const int orio_half = (orio_width + 1) / 2;
    if (orio_item < orio_width / 2) {
      orio_local_s[orio_item] += orio_local_s[orio_item + orio_half];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (orio_item == 0) {
    const long orio_group = (long)get_group_id(1) * get_num_groups(0) + get_group_id(0);
    orio_partials_s[orio_group] = orio_local_s[0];
  }
}

