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
  for (i = 0; i < 8; i++)
    for (j = 0; j < 8; j++)
      for (k = 0; k < n; k++)
        p[i][j] += a[i][k];
  for (int x = 0; x < 8; x++)
    for (int y = 0; y < 8; y++)
      for (k = 0; k < n; k++)
        q[x][y] -= a[k][y];
  /*@ end @*/
}
