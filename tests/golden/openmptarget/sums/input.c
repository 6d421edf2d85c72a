long weigh(int n, int m, const int counts[n][m], const int *weights, int *largest);

long weigh(int n, int m, const int counts[n][m], const int *weights, int *largest) {
  int i, j, row;
  long total = 0;
  int most = *largest;
  /*@ begin Loop(
    transform OpenMPTarget(teamCount=0, threadCount=THREADS)
  ) @*/
  for (i = 0; i < n; i++) {
    row = 0;
    for (j = 0; j < m; j++)
      row += counts[i][j] * weights[j];
    total += row;
    most = row > most ? row : most;
  }
  /*@ end @*/
  *largest = most;
  return total + i;
}
