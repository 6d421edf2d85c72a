extern "C" __global__ void __launch_bounds__(48) orio_cuda_k_0(const double *__restrict__ x,
    const double *__restrict__ y, const int *__restrict__ c, const unsigned int orio_trips_i,
    double *__restrict__ orio_partials_s, double *__restrict__ orio_partials_mx,
    int *__restrict__ orio_partials_ok, int *__restrict__ orio_partials_count)
{
  double s = 0;
  double mx = -__int_as_float(0x7f800000);
  int ok = 1;
  int count = 0;
  #pragma unroll 1
  for (unsigned int orio_i = blockIdx.x * 48 + threadIdx.x; orio_i < orio_trips_i; orio_i += gridDim.x * 48) {
    const int i = (int)orio_i;
    s += x[i] * y[i];
    if (x[i] > mx)
      mx = x[i];
    ok = c[i] && ok;
    count ^= c[i];
  }
  const int orio_item = threadIdx.x;
  /* One value of each thread, then one of the block. */
  __shared__ double orio_local_s[48];
  __shared__ double orio_local_mx[48];
  __shared__ int orio_local_ok[48];
  __shared__ int orio_local_count[48];
  orio_local_s[orio_item] = s;
  orio_local_mx[orio_item] = mx;
  orio_local_ok[orio_item] = ok;
  orio_local_count[orio_item] = count;
  __syncthreads();
  for (int orio_width = 48; orio_width > 1; orio_width = (orio_width + 1) / 2) {
    const int orio_half = (orio_width + 1) / 2;
    if (orio_item < orio_width / 2) {
      orio_local_s[orio_item] += orio_local_s[orio_item + orio_half];
      orio_local_mx[orio_item] = fmax(orio_local_mx[orio_item], orio_local_mx[orio_item + orio_half]);
      orio_local_ok[orio_item] = orio_local_ok[orio_item] && orio_local_ok[orio_item + orio_half];
      orio_local_count[orio_item] ^= orio_local_count[orio_item + orio_half];
    }
    __syncthreads();
  }
  if (orio_item == 0) {
    const long orio_group = blockIdx.x;
    orio_partials_s[orio_group] = orio_local_s[0];
    orio_partials_mx[orio_group] = orio_local_mx[0];
    orio_partials_ok[orio_group] = orio_local_ok[0];
    orio_partials_count[orio_group] = orio_local_count[0];
  }
}

