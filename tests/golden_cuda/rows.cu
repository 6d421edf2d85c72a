extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(double *__restrict__ x,
    const double *__restrict__ p, const double *__restrict__ y, double *__restrict__ q, const int m,
    const unsigned int)
{
  const int orio_item = threadIdx.x;
  __shared__ double orio_local_t[4];
  const unsigned int orio_i = blockIdx.x;
  const int i = (int)orio_i;
  double t;
  double scv_1 = x[i];
  t = scv_1;
  {
    const long orio_trips_j = m;
    const double orio_before_t = t;
    t = 0;
    for (long orio_j = (long)orio_item; orio_j < orio_trips_j; orio_j += 128) {
      const int j = (int)orio_j;
      t += p[i * 64 + j] * y[j];
    }
    /* One value of each warp, then one of the block. */
    for (int orio_distance = 16; orio_distance > 0; orio_distance /= 2) {
      const double orio_other_t = __shfl_down_sync(0xffffffffu, t, orio_distance);
      t += orio_other_t;
    }
    if (orio_item % 32 == 0) {
      orio_local_t[orio_item / 32] = t;
    }
    __syncthreads();
    if (orio_item < 32) {
      t = orio_item < 4 ? orio_local_t[orio_item] : (double)0;
      for (int orio_distance = 2; orio_distance > 0; orio_distance /= 2) {
        const double orio_other_t = __shfl_down_sync(0xffffffffu, t, orio_distance);
        t += orio_other_t;
      }
    }
    if (orio_item == 0) {
      orio_local_t[0] = t;
    }
    __syncthreads();
    t = orio_local_t[0];
    t += orio_before_t;
    __syncthreads();
  }
  scv_1 = t;
  if (t > 0) {
    {
      const long orio_trips_j = m;
      for (long orio_j = (long)orio_item; orio_j < orio_trips_j; orio_j += 128) {
        const int j = (int)orio_j;
        q[i * 64 + j] = scv_1;
      }
    }
  }
  __syncthreads();
  if (orio_item == 0) {
    x[i] = scv_1;
  }
}

