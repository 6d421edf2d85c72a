void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x);

void product(int n, int m, double *restrict y, double (*restrict a)[100], const double *restrict x) {
  /*@ begin Loop(
    transform Composite(
      unrolljam=(['i'], [4]),
      scalarreplace=(True, 'double'),
      opencl=(True, ('workItemsPerGroup', 32), ('unrollInner', 2)))
  ) @*/
  {
    void orio_opencl_product_0(double *y, const double *a, const double *x, long orio_count_y, long orio_count_a, long orio_count_x, int m, long orio_trips_i);
    orio_opencl_product_0(y, &a[0][0], x, m > 0 ? n : 0, m > 0 ? (long)m + (long)n * 100 - 100 : 0, m, m, n);
  }
  /*@ end @*/
}
