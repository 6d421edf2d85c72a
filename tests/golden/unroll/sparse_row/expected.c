double kernel(int i, const int *row, const int *column, const double *value, const double *x);

double kernel(int i, const int *row, const int *column, const double *value, const double *x) {
  int j;
  double s = 0;
  /*@ begin Loop(
    transform Unroll(ufactor=4)
  ) @*/
  for (j = row[i]; row[i + 1] > row[i] && row[i + 1] - row[i] > 3 && j < row[i + 1] - 3; j += 4) {
    s += value[j] * x[column[j]];
    s += value[j + 1] * x[column[j + 1]];
    s += value[j + 2] * x[column[j + 2]];
    s += value[j + 3] * x[column[j + 3]];
  }
  for (; j < row[i + 1]; j++)
    s += value[j] * x[column[j]];
  /*@ end @*/
  return s;
}
