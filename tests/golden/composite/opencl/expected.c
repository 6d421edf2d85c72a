void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x);

void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x) {
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
      orio_opencl_product_0(y, x, &a[0][0], m > 0 ? ((long)i_last - 1) / 4 * 4 + 4 : 0, m, m > 0 ? (long)(((long)i_last - 1) / 4 * 4) * 100 + m + 300 : 0, m, ((long)i_last + 3) / 4);
    }
    {
      void orio_opencl_product_1(double *y, const double *a, const double *x, long orio_count_y, long orio_count_a, long orio_count_x, int m, long orio_first_y, long orio_first_a, int orio_start_i, long orio_trips_i);
      orio_opencl_product_1(&y[i_last], &a[0][0] + (long)i_last * 100, x, m > 0 ? (long)n - i_last : 0, m > 0 ? (long)m + (long)n * 100 - (long)i_last * 100 - 100 : 0, m, m, (long)i_last, (long)((long)i_last * 100), i_last, (long)n - i_last);
    }
  }
  /*@ end @*/
}
