int kernel(int n, double *restrict z, const double *restrict x, const int *restrict c);

int kernel(int n, double *restrict z, const double *restrict x, const int *restrict c) {
  int i, count = 0;
  double t;
  /*@ begin Loop(
    transform Parallelize(schedule='static')
  ) @*/
  for (i = 0; i < n; i++) {
    t = x[i] - 0.5; /* distance */
    z[i] = t * t;
    count += c[i];
  }
  /*@ end @*/
  return count;
}
