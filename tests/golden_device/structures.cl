#pragma OPENCL EXTENSION cl_khr_fp64 : enable

struct orio_cell { char kind; double x; uint n; uint half_; float v[3]; };
typedef char orio_cell_size[sizeof(struct orio_cell) == 40 ? 1 : -1];

__kernel void orio_opencl_k_0(__global struct orio_cell *restrict cells,
    __global const int *restrict c, __global const double *restrict y, const double rule_dt,
    const int rule_n, const uint orio_trips_i)
{
  const uint orio_i = get_global_id(0);
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    int j;
    cells[i].x += rule_dt * sqrt((double)cells[i].v[1]);
    for (j = 0; j < 3; j++)
      cells[i].v[j] = (int)abs(c[i]) + cells[i].half_;
    cells[i].n = pow((double)cells[i].n, (double)rule_n) + fmax(cells[i].v[2], (float)y[i]);
  }
}

