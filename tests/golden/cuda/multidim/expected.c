void fill(int n, int m, double (*restrict a)[m], const double *restrict x);

void fill(int n, int m, double (*restrict a)[m], const double *restrict x) {
  /*@ begin Loop(
    transform CUDA(nd=2)
  ) @*/
  {
    void orio_cuda_fill_0(const double *x, double *a, long orio_count_x, long orio_count_a, long orio_extent_a_1, long orio_trips_i, long orio_trips_j);
    orio_cuda_fill_0(x, &a[0][0], m > (long)n - 1 ? m : (long)n - 1, (long)m - (long)(sizeof(a[0]) / sizeof(a[0][0])) + (long)n * (long)(sizeof(a[0]) / sizeof(a[0][0])), (long)(sizeof(a[0]) / sizeof(a[0][0])), n, m);
  }
  /*@ end @*/
}
