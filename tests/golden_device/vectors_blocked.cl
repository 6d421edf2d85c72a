#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const int *restrict c, __global const double *restrict x,
    __global double *restrict y, const int orio_start_i, const long orio_trips_i)
{
  const long orio_piece_i = (orio_trips_i + (long)get_global_size(0) * 2 - 1) / ((long)get_global_size(0) * 2) * 2;
  const long orio_end_i = min(((long)get_global_id(0) + 1) * orio_piece_i, orio_trips_i);
  for (long orio_i = (long)get_global_id(0) * orio_piece_i; orio_i < orio_end_i; orio_i += 2) {
    if (orio_i + 2 <= orio_trips_i) {
      const int i = (int)(orio_start_i - (orio_i + 1));
      const int2 orio_lanes_i = (int2)i + (int2)(0, 1);
      vstore2(select(-vload2(0, &x[i]), vload2(0, &x[i]) * convert_double2(orio_lanes_i), convert_long2(vload2(0, &c[i]) != 0)), 0, &y[i]);
    } else {
      for (long orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
        const int i = (int)(orio_start_i - orio_rest_i);
        y[i] = c[i] ? x[i] * i : -x[i];
      }
    }
  }
}

