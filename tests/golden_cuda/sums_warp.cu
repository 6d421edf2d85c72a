extern "C" __global__ void __launch_bounds__(32) orio_cuda_k_0(const double *__restrict__ x,
    const unsigned int orio_trips_i, double *__restrict__ orio_partials_s)
{
  double s = 0;
  const unsigned int orio_i = blockIdx.x * 32 + threadIdx.x;
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    s += x[i];
  }
  const int orio_item = threadIdx.x;
  /* One value of each warp. */
  for (int orio_distance = 16; orio_distance > 0; orio_distance /= 2) {
    const double orio_other_s = __shfl_down_sync(0xffffffffu, s, orio_distance);
    s += orio_other_s;
  }
  if (orio_item == 0) {
    const long orio_group = blockIdx.x;
    orio_partials_s[orio_group] = s;
  }
}

