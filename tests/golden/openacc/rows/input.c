void product(int n, int m, double *restrict out, const double *restrict matrix, const double *restrict vector);

void product(int n, int m, double *restrict out, const double *restrict matrix, const double *restrict vector) {
  /*@ begin Loop(
    transform OpenACC(gangCount=128, vectorLength=LANES)
  ) @*/
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += matrix[i * m + j] * vector[j];
    out[i] = sum;
  }
  /*@ end @*/
}
