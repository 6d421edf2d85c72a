#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void lanes(__global const double *x_double, __global double *y_double, __global double *sums_double)
{
  const long item = get_global_id(0);
  {
    const double8 v = vload8(item, x_double);
    double8 w = v * (double8)(3) + (double8)(1), total = (double8)(0);
    w = select(w, v, w > (double8)(7));
    vstore8(w, item, y_double);
    for (int i = 0; i < 3; i++)
      total += convert_double8(convert_double8(w));
    sums_double[item] = (double)total.s0 + (double)total.s1 + (double)total.s2 + (double)total.s3 + (double)total.s4 + (double)total.s5 + (double)total.s6 + (double)total.s7;
  }
}
