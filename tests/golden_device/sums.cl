#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict x, __global const double *restrict y,
    __global const int *restrict c, const uint orio_trips_i,
    __global double *restrict orio_partials_s, __global double *restrict orio_partials_mx,
    __global int *restrict orio_partials_ok, __global int *restrict orio_partials_count)
{
  double s = 0;
  double mx = -INFINITY;
  int ok = 1;
  int count = 0;
  for (uint orio_i = get_global_id(0); orio_i < orio_trips_i; orio_i += get_global_size(0)) {
    const int i = (int)orio_i;
    s += x[i] * y[i];
    if (x[i] > mx)
      mx = x[i];
    ok = c[i] && ok;
    count ^= c[i];
  }
  const int orio_item = get_local_id(0);
  /* One value of each item, then one of the group. */
  __local double orio_local_s[48];
  __local double orio_local_mx[48];
  __local int orio_local_ok[48];
  __local int orio_local_count[48];
  orio_local_s[orio_item] = s;
  orio_local_mx[orio_item] = mx;
  orio_local_ok[orio_item] = ok;
  orio_local_count[orio_item] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int orio_width = 48; orio_width > 1; orio_width = (orio_width + 1) / 2) {
    const int orio_half = (orio_width + 1) / 2;
    if (orio_item < orio_width / 2) {
      orio_local_s[orio_item] += orio_local_s[orio_item + orio_half];
      orio_local_mx[orio_item] = fmax(orio_local_mx[orio_item], orio_local_mx[orio_item + orio_half]);
      orio_local_ok[orio_item] = orio_local_ok[orio_item] && orio_local_ok[orio_item + orio_half];
      orio_local_count[orio_item] ^= orio_local_count[orio_item + orio_half];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (orio_item == 0) {
    const long orio_group = get_group_id(0);
    orio_partials_s[orio_group] = orio_local_s[0];
    orio_partials_mx[orio_group] = orio_local_mx[0];
    orio_partials_ok[orio_group] = orio_local_ok[0];
    orio_partials_count[orio_group] = orio_local_count[0];
  }
}

