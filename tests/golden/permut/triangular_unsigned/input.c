void kernel(unsigned n, double a[restrict n][n], double b[restrict n][n]);

void kernel(unsigned n, double a[restrict n][n], double b[restrict n][n]) {
  /*@ begin Loop(
    transform Permut(seq=['j', 'i'])
  ) @*/
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = n - i; j > 0; j--)
      a[i][j - 1] = b[i][j - 1];
  /*@ end @*/
}
