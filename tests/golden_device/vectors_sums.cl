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
  double4 orio_lanes_s = (double4)0;
  double4 orio_lanes_mx = (double4) -INFINITY;
  int4 orio_lanes_ok = (int4)1;
  int4 orio_lanes_count = (int4)0;
  for (uint orio_i = get_global_id(0) * 4; orio_i < orio_trips_i; orio_i += get_global_size(0) * 4) {
    if (orio_i + 4 <= orio_trips_i) {
      const int i = (int)orio_i;
      orio_lanes_s = orio_lanes_s + vload4(0, &x[i]) * vload4(0, &y[i]);
      {
        const long4 orio_mask_0 = vload4(0, &x[i]) > orio_lanes_mx;
        orio_lanes_mx = select(orio_lanes_mx, vload4(0, &x[i]), orio_mask_0);
      }
      orio_lanes_ok = -((vload4(0, &c[i]) != 0) & (orio_lanes_ok != 0));
      orio_lanes_count = orio_lanes_count ^ vload4(0, &c[i]);
    } else {
      for (uint orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
        const int i = (int)orio_rest_i;
        s += x[i] * y[i];
        if (x[i] > mx)
          mx = x[i];
        ok = c[i] && ok;
        count ^= c[i];
      }
    }
  }
  const double2 orio_lanes_s_2 = orio_lanes_s.lo + orio_lanes_s.hi;
  s += orio_lanes_s_2.lo;
  s += orio_lanes_s_2.hi;
  const double2 orio_lanes_mx_2 = fmax(orio_lanes_mx.lo, orio_lanes_mx.hi);
  mx = fmax(mx, orio_lanes_mx_2.lo);
  mx = fmax(mx, orio_lanes_mx_2.hi);
  const int2 orio_lanes_ok_2 = orio_lanes_ok.lo & orio_lanes_ok.hi;
  ok = ok && orio_lanes_ok_2.lo;
  ok = ok && orio_lanes_ok_2.hi;
  const int2 orio_lanes_count_2 = orio_lanes_count.lo ^ orio_lanes_count.hi;
  count ^= orio_lanes_count_2.lo;
  count ^= orio_lanes_count_2.hi;
  const int orio_item = get_local_id(0);
  /* One value of each item, then one of the group. */
  __local double orio_local_s[32];
  __local double orio_local_mx[32];
  __local int orio_local_ok[32];
  __local int orio_local_count[32];
  orio_local_s[orio_item] = s;
  orio_local_mx[orio_item] = mx;
  orio_local_ok[orio_item] = ok;
  orio_local_count[orio_item] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int orio_width = 32; orio_width > 1; orio_width = (orio_width + 1) / 2) {
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

