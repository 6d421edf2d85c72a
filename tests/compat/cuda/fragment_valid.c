int isValid(void)
{
  int i, j;
  for (i = 0; i < MSIZE; i++) {
    double s = i;
    for (j = 0; j < NSIZE; j++)
      s += A[i * NSIZE + j] * x[j];
    if (s != y[i])
      return 0;
  }
  return 1;
}
