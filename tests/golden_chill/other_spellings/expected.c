void twice(int n, float p[restrict 8][8], float q[restrict 8][8], float a[restrict 8][8]);

void twice(int n, float p[restrict 8][8], float q[restrict 8][8], float a[restrict 8][8]) {
  int i, j, k;
  /*@ begin CHiLL(
    permute_loops(0, ["j", "i", "k"]);
    permute_loops(1, ["y", "x", "k"]);
    fuse({0, 1}, 2);
    distribute({0, 1}, 2);
    copy_to_registers(0, 3, "p");
    unroll(1, 3, 3)
  ) @*/
  for (j = 0; j < 8; j++) {
    for (i = 0; i < 8; i++)
      if (n > 0) {
        float s0_1 = p[i][j];
        for (k = 0; k < n; k++)
          s0_1 += a[i][k];
        p[i][j] = s0_1;
      }
    for (i = 0; i < 8; i++) {
      for (k = 0; n > 2 && k < n - 2; k += 3) {
        q[i][j] -= a[k][j];
        q[i][j] -= a[k + 1][j];
        q[i][j] -= a[k + 2][j];
      }
      for (; k < n; k++)
        q[i][j] -= a[k][j];
    }
  }
  /*@ end @*/
}
