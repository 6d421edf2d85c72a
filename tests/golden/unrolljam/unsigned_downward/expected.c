void kernel(unsigned n, unsigned m, double c[restrict n][m], const double *restrict x);

void kernel(unsigned n, unsigned m, double c[restrict n][m], const double *restrict x) {
  unsigned i;
  /*@ begin Loop(
    transform UnrollJam(ufactor=2)
  ) @*/
  for (i = n; i > 1; i -= 2) {
    for (unsigned j = 0; j < m; j++) {
      c[i - 1][j] += x[j];
      c[i - 2][j] += x[j];
    }
  }
  for (; i > 0; i -= 1)
    for (unsigned j = 0; j < m; j++)
      c[i - 1][j] += x[j];
  /*@ end @*/
}
