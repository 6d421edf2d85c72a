void product(int n, int m, double *restrict out, const double *restrict matrix, const double *restrict vector);

void product(int n, int m, double *restrict out, const double *restrict matrix, const double *restrict vector) {
  /*@ begin Loop(
    transform OpenACC(gangCount=128, vectorLength=LANES)
  ) @*/
  if (n > 0) {
    #if defined(_OPENACC)
    #pragma acc parallel loop gang vector num_gangs(128) vector_length(32) copyin(matrix[0:((long)m * n > 0 ? (long)m * n : 0)], vector[0:(m > 0 ? m : 0)]) copyout(out[0:n])
    #endif
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < m; j++)
        sum += matrix[i * m + j] * vector[j];
      out[i] = sum;
    }
  }
  /*@ end @*/
}
