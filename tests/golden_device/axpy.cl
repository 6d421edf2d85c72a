#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict x, __global double *restrict y,
    const double alpha, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0);
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    y[i] += alpha * x[i];
  }
}

