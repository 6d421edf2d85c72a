void kernel(int n, int m, float *restrict in, float *restrict out) {
  int y;
  /*@ begin Loop(
    transform Permut(seq=['x', 'y'])
  ) @*/
  for (int x = 0; x < n; x++) {
    for (y = 0; y < m; y++) {
      int c = x + y * n;
      out[c] = in[c];
    }
  }
  /*@ end @*/
}
