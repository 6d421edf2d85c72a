void kernel(unsigned n, unsigned m, unsigned s, double *a);

void kernel(unsigned n, unsigned m, unsigned s, double *a) {
  unsigned t, i;
  /*@ begin Loop(
    transform Skew(loop='i', by='t')
  ) @*/
  for (t = 0; t < m; t++)
    for (i = s; i <= n; i++)
      a[i] = a[i] + a[i + 1];
  /*@ end @*/
}
