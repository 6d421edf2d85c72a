void fill(int n, int m, double (*restrict a)[m], const double *restrict x);

void fill(int n, int m, double (*restrict a)[m], const double *restrict x) {
  /*@ begin Loop(
    transform CUDA(nd=2)
  ) @*/
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = i > 0 ? x[i - 1] : x[j];
  /*@ end @*/
}
