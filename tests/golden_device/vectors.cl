#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict x, __global double *restrict y,
    const double alpha, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0) * 4;
  if (orio_i < orio_trips_i) {
    if (orio_i + 4 <= orio_trips_i) {
      const int i = (int)orio_i;
      vstore4(vload4(0, &y[i]) + alpha * vload4(0, &x[i]), 0, &y[i]);
    } else {
      for (uint orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
        const int i = (int)orio_rest_i;
        y[i] += alpha * x[i];
      }
    }
  }
}

