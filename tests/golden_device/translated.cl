#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global uchar *restrict bytes, __global const double *restrict x,
    __global float *restrict f, __global const int *restrict c, const ulong z, const long big,
    const int local_, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0);
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    long v = 3L;
    bytes[i] = (uchar)(sizeof(int) + z + v + big);
    f[i] = sqrt((float)x[i]) + fmax(f[i], (float)2) + (c[i] > local_ ? c[i] : local_) - (int)abs(c[i]) + pow((double)f[i], 2.0);
  }
}

