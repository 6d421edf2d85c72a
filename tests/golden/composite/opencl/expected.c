void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x);

void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x) {
  int i, j;
  /*@ begin Loop(
    transform Composite(
      unrolljam=(['i'], [4]),
      scalarreplace=(True, 'double'),
      opencl=(True, ('workItemsPerGroup', 32), ('unrollInner', 2)))
  ) @*/
  {
    int i_last = 0;
    if (i_last < n)
      i_last += (n - i_last) / 4 * 4;
    {
      void orio_opencl_product_0(double *y, const double *x, const double *a, long orio_count_y, long orio_count_x, long orio_count_a, int m, long orio_trips_i);
      orio_opencl_product_0(y, x, &a[0][0], ((long)i_last - 1) / 4 * 4 + 4, m, (long)(((long)i_last - 1) / 4 * 4) * 100 + m + 300, m, ((long)i_last + 3) / 4);
    }
    for (i = i_last; i < n; i++)
      if (m > 0) {
        double scv_6 = y[i];
        for (j = 0; j < m; j++)
          scv_6 += a[i][j] * x[j];
        y[i] = scv_6;
      }
  }
  /*@ end @*/
}
