extern "C" __global__ void __launch_bounds__(256) orio_cuda_nest_sd_t_d1_1_0(const double *__restrict__ t2,
    const double *__restrict__ v2, double *__restrict__ t3, const int sd_t_d1_1_p5u, const int sd_t_d1_1_p4u,
    const int sd_t_d1_1_h7u, const int sd_t_d1_1_h3u, const int sd_t_d1_1_h2u, const int sd_t_d1_1_h1u,
    const int sd_t_d1_1_p6u, const unsigned int orio_trips_p6, const unsigned int,
    const unsigned int orio_trips_h1, const unsigned int orio_trips_h3)
{
  #pragma unroll 1
  for (unsigned int orio_p6 = blockIdx.y; orio_p6 < orio_trips_p6; orio_p6 += gridDim.y) {
    const unsigned int orio_h2 = blockIdx.x;
    for (unsigned int orio_h1 = threadIdx.y; orio_h1 < orio_trips_h1; orio_h1 += 16) {
      for (unsigned int orio_h3 = threadIdx.x; orio_h3 < orio_trips_h3; orio_h3 += 16) {
        const int p6 = (int)orio_p6;
        const int h2 = (int)orio_h2;
        const int h1 = (int)orio_h1;
        const int h3 = (int)orio_h3;
        int p5;
        int p4;
        int h7;
        for (p5 = 0; p5 < sd_t_d1_1_p5u; p5++)
          for (p4 = 0; p4 < sd_t_d1_1_p4u; p4++)
            if (sd_t_d1_1_h7u > 0) {
              double s0_1 = t3[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (h1 + sd_t_d1_1_h1u * (p6 + sd_t_d1_1_p6u * (p5 + sd_t_d1_1_p5u * p4))))];
              for (h7 = 0; sd_t_d1_1_h7u > 7 && h7 < sd_t_d1_1_h7u - 7; h7 += 8) {
                s0_1 -= t2[h7 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * h7))];
                s0_1 -= t2[h7 + 1 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 1)))];
                s0_1 -= t2[h7 + 2 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 2)))];
                s0_1 -= t2[h7 + 3 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 3)))];
                s0_1 -= t2[h7 + 4 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 4)))];
                s0_1 -= t2[h7 + 5 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 5)))];
                s0_1 -= t2[h7 + 6 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 6)))];
                s0_1 -= t2[h7 + 7 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * (h7 + 7)))];
              }
              for (; h7 < sd_t_d1_1_h7u; h7++)
                s0_1 -= t2[h7 + sd_t_d1_1_h7u * (p4 + sd_t_d1_1_p4u * (p5 + sd_t_d1_1_p5u * h1))] * v2[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (p6 + sd_t_d1_1_p6u * h7))];
              t3[h3 + sd_t_d1_1_h3u * (h2 + sd_t_d1_1_h2u * (h1 + sd_t_d1_1_h1u * (p6 + sd_t_d1_1_p6u * (p5 + sd_t_d1_1_p5u * p4))))] = s0_1;
            }
      }
    }
  }
}

