void kernel(int n, double a[restrict n][n], double b[restrict n][n]);

void kernel(int n, double a[restrict n][n], double b[restrict n][n]) {
  /*@ begin Loop(
    transform Interchange(first='j', second='i')
  ) @*/
  for (unsigned i = n; i > 0; i -= 1)
    /* columns */
    for (int j = n - 1; j >= 0; j--)
      a[i - 1][j] = b[j][i - 1];
  /*@ end @*/
}
