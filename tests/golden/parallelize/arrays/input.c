void gradient(int n, int m, long *sums, long *restrict out, const long *in, int *restrict count, const int *class_of);

void gradient(int n, int m, long *sums, long *restrict out, const long *in, int *restrict count, const int *class_of) {
  long best[4];
  int i, j;
  /*@ begin Loop(
    transform Parallelize()
  ) @*/
  for (i = 0; i < n; i++) {
    for (j = 0; j < 4; j++)
      best[j] = in[4 * i + j] * 3; /* for this row alone */
    out[i] = best[0] + best[3];
    count[class_of[i]]++;
    for (j = 0; j < m; j++)
      sums[j] += out[i] * best[1];
  }
  /*@ end @*/
}
