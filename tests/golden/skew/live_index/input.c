int kernel(int m, int n, double *a);

int kernel(int m, int n, double *a) {
  int t, i = 0;
  /*@ begin Loop(
    transform Skew(loop='i', by='t')
  ) @*/
  for (t = 0; t < m; t++)
    for (i = 1; i < n; i++)
      a[i] = a[i - 1] + a[i + 1];
  /*@ end @*/
  return t + i;
}
