/* A diagonally dominant matrix: off the diagonal below 1 in size, on it above n. */
void init_input_vars()
{
  int i, j;

  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      a[i][j] = (i == j) ? n + 1.0 : 1.0 / (1.0 + (7 * i + 3 * j) % 11);
}
