int kernel(int n, int m, const int c[n][m]);

int kernel(int n, int m, const int c[n][m]) {
  int i, j, most = 0;
  /*@ begin Loop(
    transform Parallelize(collapse=2)
  ) @*/
  #if defined(_OPENMP)
  #pragma omp parallel for collapse(2) reduction(max: most)
  #endif
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      if (c[i][j] > most)
        most = c[i][j];
  /*@ end @*/
  return most;
}
