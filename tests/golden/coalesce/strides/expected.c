void kernel(int n, unsigned m, double *restrict a);

void kernel(int n, unsigned m, double *restrict a) {
  int i;
  /*@ begin Loop(
    transform Coalesce(index='number', loop='i')
  ) @*/
  for (int t = 0; t < 4; t++)
    if (n - 1 >= 2 && m >= 1)
      for (long long number = 0; number < (((long long)(n - 1) - 2) / 3 + 1) * (((long long)m - 1) / 2 + 1); number++) {
        i = (int)(n - 1 - number / (((long long)m - 1) / 2 + 1) * 3);
        unsigned j = (unsigned)(1 + number % (((long long)m - 1) / 2 + 1) * 2);
        a[i] += j;
      }
  /*@ end @*/
}
