extern "C" __global__ void __launch_bounds__(256) orio_cuda_k_0(const double *__restrict__ x,
    const double *__restrict__ y, const int *__restrict__ c, const unsigned int orio_trips_i,
    double *__restrict__ orio_partials_s, double *__restrict__ orio_partials_mx,
    int *__restrict__ orio_partials_ok, int *__restrict__ orio_partials_count)
{
  double s = 0;
  double mx = -__int_as_float(0x7f800000);
  int ok = 1;
  int count = 0;
  #pragma unroll 1
  for (unsigned int orio_i = blockIdx.x * 256 + threadIdx.x; orio_i < orio_trips_i; orio_i += gridDim.x * 256) {
    const int i = (int)orio_i;
    s += x[i] * y[i];
    if (x[i] > mx)
      mx = x[i];
    ok = c[i] && ok;
    count ^= c[i];
  }
  const int orio_item = threadIdx.x;
  /* One value of each warp, then one of the block. */
  for (int orio_distance = 16; orio_distance > 0; orio_distance /= 2) {
    const double orio_other_s = __shfl_down_sync(0xffffffffu, s, orio_distance);
    s += orio_other_s;
    const double orio_other_mx = __shfl_down_sync(0xffffffffu, mx, orio_distance);
    mx = fmax(mx, orio_other_mx);
    const int orio_other_ok = __shfl_down_sync(0xffffffffu, ok, orio_distance);
    ok = ok && orio_other_ok;
    const int orio_other_count = __shfl_down_sync(0xffffffffu, count, orio_distance);
    count ^= orio_other_count;
  }
  __shared__ double orio_local_s[8];
  __shared__ double orio_local_mx[8];
  __shared__ int orio_local_ok[8];
  __shared__ int orio_local_count[8];
  if (orio_item % 32 == 0) {
    orio_local_s[orio_item / 32] = s;
    orio_local_mx[orio_item / 32] = mx;
    orio_local_ok[orio_item / 32] = ok;
    orio_local_count[orio_item / 32] = count;
  }
  __syncthreads();
  if (orio_item < 32) {
    s = orio_item < 8 ? orio_local_s[orio_item] : (double)0;
    mx = orio_item < 8 ? orio_local_mx[orio_item] : (double) -__int_as_float(0x7f800000);
    ok = orio_item < 8 ? orio_local_ok[orio_item] : (int)1;
    count = orio_item < 8 ? orio_local_count[orio_item] : (int)0;
    for (int orio_distance = 4; orio_distance > 0; orio_distance /= 2) {
      const double orio_other_s = __shfl_down_sync(0xffffffffu, s, orio_distance);
      s += orio_other_s;
      const double orio_other_mx = __shfl_down_sync(0xffffffffu, mx, orio_distance);
      mx = fmax(mx, orio_other_mx);
      const int orio_other_ok = __shfl_down_sync(0xffffffffu, ok, orio_distance);
      ok = ok && orio_other_ok;
      const int orio_other_count = __shfl_down_sync(0xffffffffu, count, orio_distance);
      count ^= orio_other_count;
    }
  }
  if (orio_item == 0) {
    const long orio_group = blockIdx.x;
    orio_partials_s[orio_group] = s;
    orio_partials_mx[orio_group] = mx;
    orio_partials_ok[orio_group] = ok;
    orio_partials_count[orio_group] = count;
  }
}

