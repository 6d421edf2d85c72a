void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x);

void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x) {
  /*@ begin Loop(
    transform Composite(
      unrolljam=(['i'], [4]),
      scalarreplace=(True, 'double'),
      opencl=(True, ('workItemsPerGroup', 32), ('unrollInner', 2)))
  ) @*/
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += a[i][j] * x[j];
  /*@ end @*/
}
