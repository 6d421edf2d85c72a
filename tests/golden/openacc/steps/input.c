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
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = 0.5 * (a[i - 1] + a[i + 1]);
    for (int i = 0; i < n; i++)
      a[i] = b[i];
  }
  /*@ end @*/
}
