void kernel(unsigned n, double c[n][n], const double a[n][n]);

void kernel(unsigned n, double c[n][n], const double a[n][n]) {
  /*@ begin Loop(
    transform Specialize(on='n', values=4)
  ) @*/
  if (n == 4u) {
    double sum[4u];
    for (unsigned i = 0; i < 4u; i++) {
      sum[i] = 0.0;
      for (unsigned j = 4u; j > 0; j--)
        sum[i] += a[i][j - 1] / 4u;
      c[i][i] = sum[i];
    }
  } else {
    double sum[n];
    for (unsigned i = 0; i < n; i++) {
      sum[i] = 0.0;
      for (unsigned j = n; j > 0; j--)
        sum[i] += a[i][j - 1] / n;
      c[i][i] = sum[i];
    }
  }
  /*@ end @*/
}
