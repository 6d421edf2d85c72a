void kernel(int n, const double *restrict a, double *restrict b, double *restrict c, double *restrict sum);

void kernel(int n, const double *restrict a, double *restrict b, double *restrict c, double *restrict sum) {
  int i;
  double t, s = 0;
  /*@ begin Loop(
    transform Distribute(strip=64)
  ) @*/
  for (int i_strip = n - 1; i_strip >= 0; i_strip -= 128) {
    double s_x[64];
    double t_x[64];
    for (i = i_strip; i >= (i_strip < 128 ? 0 : i_strip - 126); i -= 2) {
      // each value is used twice
      t = a[i] * 2;
      t_x[(i_strip - i) / 2] = t;
    }
    for (i = i_strip; i >= (i_strip < 128 ? 0 : i_strip - 126); i -= 2)
      b[i] = t_x[(i_strip - i) / 2];
    for (i = i_strip; i >= (i_strip < 128 ? 0 : i_strip - 126); i -= 2) {
      // a sum that is read behind the loop
      s += t_x[(i_strip - i) / 2];
      s_x[(i_strip - i) / 2] = s;
    }
    for (i = i_strip; i >= (i_strip < 128 ? 0 : i_strip - 126); i -= 2)
      c[i] = s_x[(i_strip - i) / 2];
  }
  /*@ end @*/
  *sum = s;
}
