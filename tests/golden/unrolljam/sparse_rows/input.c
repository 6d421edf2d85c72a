void kernel(int n, double *y, const int *row, const int *column, const double *value, const double *x);

void kernel(int n, double *y, const int *row, const int *column, const double *value, const double *x) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=2)
  ) @*/
  for (i = 0; i < n; i++)
    for (j = row[i]; j < row[i + 1]; j++)
      y[i] += value[j] * x[column[j]];
  /*@ end @*/
}
