#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel
__attribute__((reqd_work_group_size(64, 1, 1)))
__attribute__((work_group_size_hint(64, 1, 1)))
__attribute__((vec_type_hint(double4)))
void orio_opencl_k_0(__global const double *restrict x, __global double *restrict y,
    const double alpha, const uint orio_trips_i)
{
  for (uint orio_i = get_global_id(0); orio_i < orio_trips_i; orio_i += get_global_size(0)) {
    const int i = (int)orio_i;
    y[i] += alpha * x[i];
  }
}

