void relax(int steps, int n, double *restrict a, double *restrict b);

void relax(int steps, int n, double *restrict a, double *restrict b) {
  /*@ begin Loop(
    for (int t = 0; t < steps; t++) {
      transform OpenACC(vectorLength=LANES)
      for (int i = 1; i < n - 1; i++)
        b[i] = 0.5 * (a[i - 1] + a[i + 1]);
      transform OpenACC(vectorLength=LANES)
      for (int i = 0; i < n; i++)
        a[i] = b[i];
    }
  ) @*/
  #if defined(_OPENACC)
  #pragma acc data if(0 < steps) copy(a[0:(n > 0 ? n : 0)], b[0:(n > 0 ? n : 0)])
  #endif
  {
    for (int t = 0; t < steps; t++) {
      if (n - 1 > 1) {
        #if defined(_OPENACC)
        #pragma acc parallel loop gang vector vector_length(32) copyin(a[0:n]) copyout(b[1:n - 2])
        #endif
        for (int i = 1; i < n - 1; i++)
          b[i] = 0.5 * (a[i - 1] + a[i + 1]);
      }
      if (n > 0) {
        #if defined(_OPENACC)
        #pragma acc parallel loop gang vector vector_length(32) copyin(b[0:n]) copyout(a[0:n])
        #endif
        for (int i = 0; i < n; i++)
          a[i] = b[i];
      }
    }
  }
  /*@ end @*/
}
