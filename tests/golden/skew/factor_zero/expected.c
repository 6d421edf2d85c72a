void kernel(int m, int n, double *a);

void kernel(int m, int n, double *a) {
  int t, i;
  /*@ begin Loop(
    transform Skew(loop='i', by='t', factor=F)
  ) @*/
  for (t = 0; t < m; t++)
    for (i = 1; i < n; i++)
      a[i] = a[i - 1] + a[i + 1];
  /*@ end @*/
}
