#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void orio_opencl_k_0(__global double *restrict q, __global const double *restrict p,
    const int n, const uint orio_trips_i, const uint orio_trips_j)
{
  const long orio_begin_i = (long)get_group_id(1) * 2;
  const long orio_begin_j = (long)get_group_id(0) * 8;
  const int orio_left_i = (int)min(2L, orio_trips_i - orio_begin_i);
  const int orio_left_j = (int)min(8L, orio_trips_j - orio_begin_j);
  const int orio_whole = orio_left_i == 2 && orio_left_j == 8;
  if (orio_whole) {
    const long orio_i_0 = orio_begin_i + get_local_id(1);
    const int orio_at_i_0 = (int)orio_i_0;
    const long orio_i_1 = orio_begin_i + (get_local_id(1) + 1);
    const int orio_at_i_1 = (int)orio_i_1;
    const long orio_j_0 = orio_begin_j + get_local_id(0) * 4;
    const int orio_at_j_0 = (int)orio_j_0;
    const int4 orio_lanes_orio_at_j_0 = (int4)orio_at_j_0 + (int4)(0, 1, 2, 3);
    const long orio_j_1 = orio_begin_j + (get_local_id(0) * 4 + 4);
    const int orio_at_j_1 = (int)orio_j_1;
    const int4 orio_lanes_orio_at_j_1 = (int4)orio_at_j_1 + (int4)(0, 1, 2, 3);
    int k;
    double4 orio_own_scv_1_0_0 = vload4(0, &q[orio_at_i_0 * 64 + orio_at_j_0]);
    double4 orio_own_scv_1_0_1 = vload4(0, &q[orio_at_i_0 * 64 + orio_at_j_1]);
    double4 orio_own_scv_1_1_0 = vload4(0, &q[orio_at_i_1 * 64 + orio_at_j_0]);
    double4 orio_own_scv_1_1_1 = vload4(0, &q[orio_at_i_1 * 64 + orio_at_j_1]);
    for (k = 0; k < n; k++) {
      orio_own_scv_1_0_0 = orio_own_scv_1_0_0 + (p[orio_at_i_0 * 64 + k] * vload4(0, &p[k * 64 + orio_at_j_0]) + convert_double4(orio_lanes_orio_at_j_0));
      orio_own_scv_1_0_1 = orio_own_scv_1_0_1 + (p[orio_at_i_0 * 64 + k] * vload4(0, &p[k * 64 + orio_at_j_1]) + convert_double4(orio_lanes_orio_at_j_1));
      orio_own_scv_1_1_0 = orio_own_scv_1_1_0 + (p[orio_at_i_1 * 64 + k] * vload4(0, &p[k * 64 + orio_at_j_0]) + convert_double4(orio_lanes_orio_at_j_0));
      orio_own_scv_1_1_1 = orio_own_scv_1_1_1 + (p[orio_at_i_1 * 64 + k] * vload4(0, &p[k * 64 + orio_at_j_1]) + convert_double4(orio_lanes_orio_at_j_1));
    }
    vstore4(orio_own_scv_1_0_0, 0, &q[orio_at_i_0 * 64 + orio_at_j_0]);
    vstore4(orio_own_scv_1_0_1, 0, &q[orio_at_i_0 * 64 + orio_at_j_1]);
    vstore4(orio_own_scv_1_1_0, 0, &q[orio_at_i_1 * 64 + orio_at_j_0]);
    vstore4(orio_own_scv_1_1_1, 0, &q[orio_at_i_1 * 64 + orio_at_j_1]);
  } else {
    for (int orio_place_i = get_local_id(1); orio_place_i < orio_left_i; orio_place_i += 1) {
      for (int orio_vector_j = get_local_id(0) * 4; orio_vector_j < orio_left_j; orio_vector_j += 4) {
        for (int orio_place_j = orio_vector_j; orio_place_j < min(orio_vector_j + 4, orio_left_j); orio_place_j++) {
          const int i = (int)(orio_begin_i + orio_place_i);
          const int j = (int)(orio_begin_j + orio_place_j);
          int k;
          double scv_1 = q[i * 64 + j];
          for (k = 0; k < n; k++)
            scv_1 += p[i * 64 + k] * p[k * 64 + j] + j;
          q[i * 64 + j] = scv_1;
        }
      }
    }
  }
}

