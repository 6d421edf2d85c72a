void scale(int n, double *y, const double *x);

void scale(int n, double *y, const double *x) {
  int i, j;
  /*@ begin Loop(
    transform ScalarReplace()
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      y[j] += x[i];
  /*@ end @*/
}
