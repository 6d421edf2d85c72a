void axpy(int n, double a, double *restrict y, const double *restrict x);

void axpy(int n, double a, double *restrict y, const double *restrict x) {
  /*@ begin Loop(
    transform CUDA(threadCount=ITEMS)
  ) @*/
  {
    void orio_cuda_axpy_0(const double *x, double *y, long orio_count_x, long orio_count_y, double a, long orio_trips_i);
    orio_cuda_axpy_0(x, y, n, n, a, n);
  }
  /*@ end @*/
}
