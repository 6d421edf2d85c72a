extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const double *__restrict__ p,
    const double *__restrict__ x, double *__restrict__ y, const int m, const long orio_rows_p,
    const unsigned int orio_trips_i)
{
  const unsigned int orio_i = blockIdx.x * 128 + threadIdx.x;
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    double t;
    int j;
    t = 0;
    for (j = 0; j < m; j++)
      t += p[j * orio_rows_p + i + 1] * x[j];
    y[i] = t;
  }
}

