void rows(int n, const int *start, float *restrict y, const float *x);

void rows(int n, const int *start, float *restrict y, const float *x) {
  int i, j;
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  for (i = 0; i < n; i++)
    if (start[i] < start[i + 1]) {
      float scv_1 = y[i];
      for (j = start[i]; j < start[i + 1]; j++) {
        const float scv_2 = x[j];
        scv_1 += scv_2 * scv_2;
      }
      y[i] = scv_1;
    }
  /*@ end @*/
}
