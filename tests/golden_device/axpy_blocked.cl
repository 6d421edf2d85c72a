#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict x, __global double *restrict y,
    const long orio_trips_w)
{
  const long orio_piece_w = (orio_trips_w + (long)get_global_size(0) - 1) / (long)get_global_size(0);
  const long orio_end_w = min(((long)get_global_id(0) + 1) * orio_piece_w, orio_trips_w);
  #pragma unroll 4
  for (long w = (long)get_global_id(0) * orio_piece_w; w < orio_end_w; w++) {
    y[w] += x[w];
  }
}

