void kernel(int n, const double *restrict a, double *restrict b, double *restrict c, double *restrict sum);

void kernel(int n, const double *restrict a, double *restrict b, double *restrict c, double *restrict sum) {
  int i;
  double t, s = 0;
  /*@ begin Loop(
    transform Distribute(strip=64)
  ) @*/
  for (i = n - 1; i >= 0; i -= 2) {
    // each value is used twice
    t = a[i] * 2;
    b[i] = t;
    // a sum that is read behind the loop
    s += t;
    c[i] = s;
  }
  /*@ end @*/
  *sum = s;
}
