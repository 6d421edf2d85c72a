double descend(int n, const double *restrict b, double *restrict x, double *restrict r, double *restrict log);

double descend(int n, const double *restrict b, double *restrict x, double *restrict r, double *restrict log) {
  double norm = 1;
  /*@ begin Loop(
    transform DeviceData(arrays=['r', 'b'], skipIn='r', skipOut=['r'])
    for (int k = 0; k < 100; k++) {
      transform CUDA()
      for (int i = 0; i < n; i++)
        r[i] = b[i] - 2 * x[i];
      transform CUDA(force=True)
      for (int i = 0; i < n; i++)
        norm += r[i] * r[i];
      if (norm < 1e-9)
        break;
      transform CUDA()
      for (int i = 0; i < n; i++)
        x[i] += r[i] / 4;
      log[k] = x[0];
    }
  ) @*/
  {
    void orio_cuda_descend_0_data_begin(const void *orio_piece_0_0, long orio_bytes_0_0, const void *orio_piece_1_0, long orio_bytes_1_0);
    orio_cuda_descend_0_data_begin(b, (long)n * (long) sizeof(b[0]), r, (long)n * (long) sizeof(r[0]));
  }
  for (int k = 0; k < 100; k++) {
    {
      void orio_cuda_descend_0(const double *b, const double *x, double *r, long orio_count_b, long orio_count_x, long orio_count_r, long orio_trips_i);
      orio_cuda_descend_0(b, x, r, n, n, n, n);
    }
    {
      void orio_cuda_descend_1(const double *r, long orio_count_r, long orio_trips_i, double *norm);
      orio_cuda_descend_1(r, n, n, &norm);
    }
    if (norm < 1e-9)
      break;
    {
      void orio_cuda_descend_2(const double *r, double *x, long orio_count_r, long orio_count_x, long orio_trips_i);
      orio_cuda_descend_2(r, x, n, n, n);
    }
    log[k] = x[0];
  }
  {
    void orio_cuda_descend_0_data_end(void);
    orio_cuda_descend_0_data_end();
  }
  /*@ end @*/
  return norm;
}
