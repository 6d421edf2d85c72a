double kernel(long n, double *restrict y, const double *restrict x);

double kernel(long n, double *restrict y, const double *restrict x) {
  long i;
  double t = 0.0;
  /*@ begin Loop(
    transform Parallelize(schedule='dynamic, 8', num_threads=T)
  ) @*/
  for (i = n; i > 0; i -= 2) {
    t = x[i];
    y[i] = t * t;
  }
  /*@ end @*/
  return t + (double)i;
}
