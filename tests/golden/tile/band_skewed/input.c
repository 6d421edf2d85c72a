void kernel(int steps, int n, double a[n]);

void kernel(int steps, int n, double a[n]) {
  int t, i;
  /*@ begin Loop(
    transform Tile(tsize=[8, 32], tindex=['tt', 'ii'], loops=['t', 'i'])
    transform Skew(loop='i', by='t')
  ) @*/
  for (t = 0; t < steps; t++)
    for (i = 1; i < n - 1; i++)
      a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
  /*@ end @*/
}
