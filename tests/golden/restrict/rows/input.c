void kernel(int n, double a[][n], double b[][8], float *scale);

void kernel(int n, double a[][n], double b[][8], float *scale) {
  int i, j, a_r = 2;
  /*@ begin Loop(
    transform Restrict(arrays=['a', 'b', 'scale'], force=True)
  ) @*/
  for (i = n - 1; i >= 0; i -= 2)
    for (j = 0; j < n; j++)
      a[i][j] = b[j][i] * *scale + a_r;
  /*@ end @*/
}
