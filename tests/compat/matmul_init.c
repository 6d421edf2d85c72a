void init_input_vars() {
  int i;
  for (i = 0; i < 500 * 500; i++) {
    A[i] = i % 7;
    B[i] = i % 5;
    C[i] = 0;
  }
}
