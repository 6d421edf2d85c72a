void kernel(int n, double a[][n], double b[][8], float *scale);

void kernel(int n, double a[][n], double b[][8], float *scale) {
  int i, j, a_r = 2;
  /*@ begin Loop(
    transform Restrict(arrays=['a', 'b', 'scale'], force=True)
  ) @*/
  {
    double (*restrict a_r_2)[sizeof(a[0]) / sizeof(a[0][0])] = a;
    double (*restrict b_r)[8] = b;
    const float *restrict scale_r = scale;
    for (i = n - 1; i >= 0; i -= 2)
      for (j = 0; j < n; j++)
        a_r_2[i][j] = b_r[j][i] * *scale_r + a_r;
  }
  /*@ end @*/
}
