void gradient(int n, int m, long *sums, long *restrict out, const long *in, int *restrict count, const int *class_of);

void gradient(int n, int m, long *sums, long *restrict out, const long *in, int *restrict count, const int *class_of) {
  long best[4];
  int i, j;
  /*@ begin Loop(
    transform Parallelize()
  ) @*/
  /* Runs unless arrays overlap (`in` and `sums`); then the original code does. */
  if ((unsigned long)(in + (long)n * 4) <= (unsigned long)sums || (unsigned long)(sums + m) <= (unsigned long)in) {
    /* Runs with threads where each has room for sums of its own; else the loops run as they were. */
    if (n > 0 && m > 0 && m <= 16384) {
      #if defined(_OPENMP)
      #pragma omp parallel for private(j, best) reduction(+: sums[0:m])
      #endif
      for (i = 0; i < n; i++) {
        for (j = 0; j < 4; j++)
          best[j] = in[4 * i + j] * 3; /* for this row alone */
        out[i] = best[0] + best[3];
        #if defined(_OPENMP)
        #pragma omp atomic
        #endif
        count[class_of[i]]++;
        for (j = 0; j < m; j++)
          sums[j] += out[i] * best[1];
      }
    } else {
      for (i = 0; i < n; i++) {
        for (j = 0; j < 4; j++)
          best[j] = in[4 * i + j] * 3; /* for this row alone */
        out[i] = best[0] + best[3];
        count[class_of[i]]++;
        for (j = 0; j < m; j++)
          sums[j] += out[i] * best[1];
      }
    }
  } else {
    for (i = 0; i < n; i++) {
      for (j = 0; j < 4; j++)
        best[j] = in[4 * i + j] * 3; /* for this row alone */
      out[i] = best[0] + best[3];
      count[class_of[i]]++;
      for (j = 0; j < m; j++)
        sums[j] += out[i] * best[1];
    }
  }
  /*@ end @*/
}
