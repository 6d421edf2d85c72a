#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const double *restrict p, __global const double *restrict x,
    __global double *restrict y, const int m, const long orio_rows_p, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0) * 2;
  if (orio_i < orio_trips_i) {
    if (orio_i + 2 <= orio_trips_i) {
      const int i = (int)orio_i;
      double2 t;
      int j;
      t = (double2)0;
      for (j = 0; j < m; j++)
        t = t + vload2(0, &p[j * orio_rows_p + i + 1]) * x[j];
      vstore2(t, 0, &y[i]);
    } else {
      for (uint orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
        const int i = (int)orio_rest_i;
        double t;
        int j;
        t = 0;
        for (j = 0; j < m; j++)
          t += p[j * orio_rows_p + i + 1] * x[j];
        y[i] = t;
      }
    }
  }
}

