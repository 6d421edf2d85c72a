#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global const int *restrict c, __global const double *restrict x,
    __global double *restrict y, __global float *restrict f, __global uchar *restrict bytes,
    const ulong z, const long big, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0) * 16;
  if (orio_i < orio_trips_i) {
    if (orio_i + 16 <= orio_trips_i) {
      const int i = (int)orio_i;
      const int16 orio_lanes_i = (int16)i + (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      double16 t;
      int16 local_ = orio_lanes_i + 1;
      {
        const int16 orio_mask_0 = vload16(0, &c[i]) > 3;
        {
          t = select(t, vload16(0, &x[local_.s0]), convert_long16(orio_mask_0));
          vstore16(select(vload16(0, &y[i]), 1 / t, convert_long16(orio_mask_0)), 0, &y[i]);
        }
        vstore16(select(vload16(0, &y[i]), vload16(0, &y[i]) + 1, convert_long16(~orio_mask_0)), 0, &y[i]);
      }
      vstore16(convert_float16(convert_double16(sqrt(convert_float16(vload16(0, &x[i]))) + fmax(vload16(0, &f[i]), (float16)2) + convert_float16(select((int16)3, vload16(0, &c[i]), vload16(0, &c[i]) > 3)) - convert_float16(convert_int16(abs(vload16(0, &c[i]))))) + pow(convert_double16(vload16(0, &f[i])), (double16)2.0)), 0, &f[i]);
      vstore16((uchar16)(uchar)(z + big), 0, &bytes[i]);
    } else {
      for (uint orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
        const int i = (int)orio_rest_i;
        double t;
        int local_ = i + 1;
        if (c[i] > 3) {
          t = x[local_];
          y[i] = 1 / t;
        } else
          y[i]++;
        f[i] = sqrt((float)x[i]) + fmax(f[i], (float)2) + (c[i] > 3 ? c[i] : 3) - (int)abs(c[i]) + pow((double)f[i], 2.0);
        bytes[i] = (uchar)(z + big);
      }
    }
  }
}

