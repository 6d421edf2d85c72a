#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict A, __global const double *restrict x,
    __global double *restrict y, const int m, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0);
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    double t;
    int j;
    t = 0;
    #pragma unroll 8
    for (j = 0; j < m; j++)
      t += A[i * m + j] * x[j];
    y[i] = t;
  }
}

