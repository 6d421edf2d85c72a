void kernel(int n, unsigned m, double *restrict a);

void kernel(int n, unsigned m, double *restrict a) {
  int i;
  /*@ begin Loop(
    transform Coalesce(index='number', loop='i')
  ) @*/
  for (int t = 0; t < 4; t++)
    for (i = n - 1; i >= 2; i -= 3)
      for (unsigned j = 1; j <= m; j += 2)
        a[i] += j;
  /*@ end @*/
}
