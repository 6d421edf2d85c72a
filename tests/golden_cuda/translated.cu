inline __device__ int orio_isnormal(double x)
{
  return isfinite(x) && fabs(x) >= 2.2250738585072014e-308;
}

inline __device__ int orio_isnormal(float x)
{
  return isfinite(x) && fabsf(x) >= 1.175494351e-38f;
}

extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const int *__restrict__ c,
    float *__restrict__ f, unsigned char *__restrict__ bytes, const double *__restrict__ x, const int m,
    const unsigned int orio_trips_i)
{
  const unsigned int orio_i = blockIdx.x * 128 + threadIdx.x;
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    long v = 3L;
    int u[2] = {(int)c[i], (int)(int)f[i]};
    bytes[i] = (unsigned char)(v + u[0] + u[1]);
    f[i] = sqrtf((float)x[i]) + fmaxf(f[i], (float)2) + (c[i] > m ? c[i] : m) - abs(c[i]) + orio_isnormal(f[i]) * 3.14159265358979323846 * 2147483647;
  }
}

