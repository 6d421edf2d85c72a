#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global double *restrict q,
    const uint orio_trips_i, const uint orio_trips_j)
{
  const uint orio_i = get_global_id(1);
  const uint orio_j = get_global_id(0);
  if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
    const int i = (int)(1 + orio_i);
    const int j = (int)(1 + orio_j);
    q[i * 64 + j] = p[(i - 1) * 64 + j] + p[(i + 1) * 64 + j] + p[i * 64 + j - 1] + p[i * 64 + j + 1];
  }
}

