extern "C" __global__ void __launch_bounds__(100) orio_cuda_nest_local_grad3_0(const double *__restrict__ D,
    const double *__restrict__ u, double *__restrict__ ur, const double *__restrict__ Dt,
    double *__restrict__ us, const int local_grad3_mu, const int local_grad3_ku, const int local_grad3_ju,
    const int local_grad3_iu, const unsigned int orio_trips_j, const unsigned int,
    const unsigned int orio_trips_i, const unsigned int orio_trips_k)
{
  #pragma unroll 1
  for (unsigned int orio_j = blockIdx.y; orio_j < orio_trips_j; orio_j += gridDim.y) {
    const unsigned int orio_e = blockIdx.x;
    for (unsigned int orio_i = threadIdx.y; orio_i < orio_trips_i; orio_i += 10) {
      for (unsigned int orio_k = threadIdx.x; orio_k < orio_trips_k; orio_k += 10) {
        const int j = (int)orio_j;
        const int e = (int)orio_e;
        const int i = (int)orio_i;
        const int k = (int)orio_k;
        int m;
        if (local_grad3_mu > 0) {
          double s0_1 = ur[k + local_grad3_ku * (j + local_grad3_ju * (i + local_grad3_iu * e))];
          for (m = 0; local_grad3_mu > 4 && m < local_grad3_mu - 4; m += 5) {
            s0_1 += D[k + local_grad3_ku * m] * u[m + local_grad3_mu * (j + local_grad3_ju * (i + local_grad3_iu * e))];
            s0_1 += D[k + local_grad3_ku * (m + 1)] * u[m + 1 + local_grad3_mu * (j + local_grad3_ju * (i + local_grad3_iu * e))];
            s0_1 += D[k + local_grad3_ku * (m + 2)] * u[m + 2 + local_grad3_mu * (j + local_grad3_ju * (i + local_grad3_iu * e))];
            s0_1 += D[k + local_grad3_ku * (m + 3)] * u[m + 3 + local_grad3_mu * (j + local_grad3_ju * (i + local_grad3_iu * e))];
            s0_1 += D[k + local_grad3_ku * (m + 4)] * u[m + 4 + local_grad3_mu * (j + local_grad3_ju * (i + local_grad3_iu * e))];
          }
          for (; m < local_grad3_mu; m++)
            s0_1 += D[k + local_grad3_ku * m] * u[m + local_grad3_mu * (j + local_grad3_ju * (i + local_grad3_iu * e))];
          ur[k + local_grad3_ku * (j + local_grad3_ju * (i + local_grad3_iu * e))] = s0_1;
        }
        if (local_grad3_mu > 0) {
          double s1_1 = us[k + local_grad3_ku * (j + local_grad3_ju * (i + local_grad3_iu * e))];
          for (m = 0; m < local_grad3_mu; m++)
            s1_1 += u[k + local_grad3_ku * (m + local_grad3_mu * (i + local_grad3_iu * e))] * Dt[m + local_grad3_mu * j];
          us[k + local_grad3_ku * (j + local_grad3_ju * (i + local_grad3_iu * e))] = s1_1;
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(100) orio_cuda_nest_local_grad3_1(const double *__restrict__ u,
    const double *__restrict__ Dt, double *__restrict__ ut, const int local_grad3_mu,
    const int local_grad3_ku, const int local_grad3_ju, const int local_grad3_iu,
    const unsigned int orio_trips_j, const unsigned int, const unsigned int orio_trips_i,
    const unsigned int orio_trips_k)
{
  #pragma unroll 1
  for (unsigned int orio_j = blockIdx.y; orio_j < orio_trips_j; orio_j += gridDim.y) {
    const unsigned int orio_e = blockIdx.x;
    for (unsigned int orio_i = threadIdx.y; orio_i < orio_trips_i; orio_i += 10) {
      for (unsigned int orio_k = threadIdx.x; orio_k < orio_trips_k; orio_k += 10) {
        const int j = (int)orio_j;
        const int e = (int)orio_e;
        const int i = (int)orio_i;
        const int k = (int)orio_k;
        int m;
        if (local_grad3_mu > 0) {
          double s2_1 = ut[k + local_grad3_ku * (j + local_grad3_ju * (i + local_grad3_iu * e))];
          for (m = 0; local_grad3_mu > 1 && m < local_grad3_mu - 1; m += 2) {
            s2_1 += u[k + local_grad3_ku * (j + local_grad3_ju * (m + local_grad3_mu * e))] * Dt[m + local_grad3_mu * i];
            s2_1 += u[k + local_grad3_ku * (j + local_grad3_ju * (m + 1 + local_grad3_mu * e))] * Dt[m + 1 + local_grad3_mu * i];
          }
          for (; m < local_grad3_mu; m++)
            s2_1 += u[k + local_grad3_ku * (j + local_grad3_ju * (m + local_grad3_mu * e))] * Dt[m + local_grad3_mu * i];
          ut[k + local_grad3_ku * (j + local_grad3_ju * (i + local_grad3_iu * e))] = s2_1;
        }
      }
    }
  }
}

