double gather(int n, const int *row, const double *a);

double gather(int n, const int *row, const double *a) {
  int i;
  double s = 0;
  /*@ begin Loop(
    transform Prefetch(aref='a[row[i]]', distance=D, locality=0)
  ) @*/
  for (i = 0; i < n; i++) {
    __builtin_prefetch(&a[row[n - i > 16 ? i + 16 : i]], 0, 0);
    s += a[row[i]];
  }
  /*@ end @*/
  return s;
}
