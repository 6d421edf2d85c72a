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
  for (int k = 0; k < 100; k++) {
    for (int i = 0; i < n; i++)
      r[i] = b[i] - 2 * x[i];
    for (int i = 0; i < n; i++)
      norm += r[i] * r[i];
    if (norm < 1e-9)
      break;
    for (int i = 0; i < n; i++)
      x[i] += r[i] / 4;
    log[k] = x[0];
  }
  /*@ end @*/
  return norm;
}
