#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global double *restrict x, __global const double *restrict p,
    __global const double *restrict y, __global double *restrict q, const int m,
    const uint orio_trips_i)
{
  const int orio_item = get_local_id(0);
  __local double orio_local_t[32];
  const uint orio_i = get_group_id(0);
  const int i = (int)orio_i;
  double t;
  double scv_1 = x[i];
  t = scv_1;
  {
    const long orio_trips_j = m;
    const double orio_before_t = t;
    t = 0;
    for (long orio_j = (long)orio_item; orio_j < orio_trips_j; orio_j += 32) {
      const int j = (int)orio_j;
      t += p[i * 64 + j] * y[j];
    }
    /* One value of each item, then one of the group. */
    orio_local_t[orio_item] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int orio_width = 32; orio_width > 1; orio_width = (orio_width + 1) / 2) {
      const int orio_half = (orio_width + 1) / 2;
      if (orio_item < orio_width / 2) {
        orio_local_t[orio_item] += orio_local_t[orio_item + orio_half];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    t = orio_local_t[0];
    t += orio_before_t;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  scv_1 = t;
  if (t > 0) {
    {
      const long orio_trips_j = m;
      for (long orio_j = (long)orio_item; orio_j < orio_trips_j; orio_j += 32) {
        const int j = (int)orio_j;
        q[i * 64 + j] = scv_1;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (orio_item == 0) {
    x[i] = scv_1;
  }
}

