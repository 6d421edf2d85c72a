double kernel(int i, const int *row, const int *column, const double *value, const double *x);

double kernel(int i, const int *row, const int *column, const double *value, const double *x) {
  int j;
  double s = 0;
  /*@ begin Loop(
    transform Unroll(ufactor=4)
  ) @*/
  for (j = row[i]; j < row[i + 1]; j++)
    s += value[j] * x[column[j]];
  /*@ end @*/
  return s;
}
