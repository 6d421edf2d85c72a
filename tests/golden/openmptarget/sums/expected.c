long weigh(int n, int m, const int counts[n][m], const int *weights, int *largest);

long weigh(int n, int m, const int counts[n][m], const int *weights, int *largest) {
  int i, j, row;
  long total = 0;
  int most = *largest;
  /*@ begin Loop(
    transform OpenMPTarget(teamCount=0, threadCount=THREADS)
  ) @*/
  if (n > 0) {
    #if defined(_OPENMP)
    #pragma omp target teams distribute parallel for thread_limit(64) map(to: counts[0:(m > 0 ? n : 0)], weights[0:(m > 0 ? m : 0)]) map(tofrom: total, most) private(row, j) reduction(+: total) reduction(max: most)
    #endif
    for (i = 0; i < n; i++) {
      row = 0;
      for (j = 0; j < m; j++)
        row += counts[i][j] * weights[j];
      total += row;
      most = row > most ? row : most;
    }
  }
  i = n > 0 ? n : 0;
  /*@ end @*/
  *largest = most;
  return total + i;
}
