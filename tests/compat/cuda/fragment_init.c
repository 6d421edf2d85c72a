void init_input_vars(void)
{
  int k;
  for (k = 0; k < MSIZE * NSIZE; k++)
    A[k] = k % 11;
  for (k = 0; k < NSIZE; k++)
    x[k] = k % 5 - 2;
  for (k = 0; k < MSIZE; k++)
    y[k] = k;
}
