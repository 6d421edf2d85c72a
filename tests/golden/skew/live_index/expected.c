int kernel(int m, int n, double *a);

int kernel(int m, int n, double *a) {
  int t, i = 0;
  /*@ begin Loop(
    transform Skew(loop='i', by='t')
  ) @*/
  if (m > 0) {
    for (t = 0; t < m; t++)
      for (i = t + 1; i < t + n; i++)
        a[i - t] = a[i - t - 1] + a[i - t + 1];
    i = n > 1 ? n : 1;
  }
  t = m > 0 ? m : 0;
  /*@ end @*/
  return t + i;
}
