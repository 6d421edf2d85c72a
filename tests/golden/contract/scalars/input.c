void kernel(double c[restrict 10][10], double a[restrict 10][5], double b[restrict 5][10]);

void kernel(double c[restrict 10][10], double a[restrict 10][5], double b[restrict 5][10]) {
  int i, j, k;
  /*@ begin Loop(
    transform Contract(order=['i', 'j'], rows=('i', 2), columns=('j', 4), unroll=2, sums='scalars')
  ) @*/
  for (i = 0; i < 10; i++)
    for (j = 0; j < 10; j++)
      for (k = 0; k < 5; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
}
