void rows(int n, const int *start, float *restrict y, const float *x);

void rows(int n, const int *start, float *restrict y, const float *x) {
  int i, j;
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  for (i = 0; i < n; i++)
    for (j = start[i]; j < start[i + 1]; j++)
      y[i] += x[j] * x[j];
  /*@ end @*/
}
