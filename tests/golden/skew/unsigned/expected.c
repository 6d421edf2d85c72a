void kernel(unsigned n, unsigned m, unsigned s, double *a);

void kernel(unsigned n, unsigned m, unsigned s, double *a) {
  unsigned t, i;
  /*@ begin Loop(
    transform Skew(loop='i', by='t')
  ) @*/
  for (t = 0; t < m; t++)
    for (i = t + s; i <= t + n; i++)
      a[i - t] = a[i - t] + a[i - t + 1];
  /*@ end @*/
}
