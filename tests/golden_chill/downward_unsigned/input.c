void scale(unsigned n, unsigned m, double *restrict y, double a[restrict n][64]);

void scale(unsigned n, unsigned m, double *restrict y, double a[restrict n][64]) {
  unsigned i, j;
  /*@ begin CHiLL(
    ORDER[] = [("i", "j"), ("j", "i")];
    permute(0, ORDER)
    unroll(0, ORDER[1], 2)
  ) @*/
  for (i = n; i > 0; i--)
    for (j = 0; j < m; j += 3)
      a[i - 1][j] *= y[j];
  /*@ end @*/
}
