void kernel(int n, int m, double a[n][m], const double *b);

void kernel(int n, int m, double a[n][m], const double *b) {
  /*@ begin Loop(
    transform Skew(loop='j', by='i', factor=F)
  ) @*/
  for (int i = 0; i < n; i++)
    for (int j = m - 1; j >= 0; j -= 3) {
      double sum = 0; /* of what is left */
      for (int k = j; k < m; k++)
        sum += b[i + j] * b[2 * i + k];
      a[i][j] = sum;
    }
  /*@ end @*/
}
