#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global double *restrict q,
    const int n, const uint orio_trips_i, const uint orio_trips_j)
{
  const uint orio_i = get_global_id(1);
  const uint orio_j = get_global_id(0) * 8;
  if (orio_i < orio_trips_i && orio_j < orio_trips_j) {
    const int i = (int)orio_i;
    if (orio_j + 8 <= orio_trips_j) {
      const int j = (int)orio_j;
      int k;
      #pragma unroll 4
      for (k = 0; k < n; k++)
        vstore8(vload8(0, &q[i * 64 + j]) + p[i * 64 + k] * vload8(0, &p[k * 64 + j]), 0, &q[i * 64 + j]);
    } else {
      for (uint orio_rest_j = orio_j; orio_rest_j < orio_trips_j; orio_rest_j++) {
        const int j = (int)orio_rest_j;
        int k;
        #pragma unroll 4
        for (k = 0; k < n; k++)
          q[i * 64 + j] += p[i * 64 + k] * p[k * 64 + j];
      }
    }
  }
}

