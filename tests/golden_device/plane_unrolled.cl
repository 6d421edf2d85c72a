#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global double *restrict q,
    const uint orio_trips_i, const uint orio_trips_j)
{
  for (uint orio_i = get_global_id(1); orio_i < orio_trips_i; orio_i += get_global_size(1)) {
    #pragma unroll 4
    for (uint orio_j = get_global_id(0); orio_j < orio_trips_j; orio_j += get_global_size(0)) {
      const int i = (int)orio_i;
      const int j = (int)orio_j;
      q[i * 64 + j] = p[i * 64 + j];
    }
  }
}

