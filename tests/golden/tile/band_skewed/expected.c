void kernel(int steps, int n, double a[n]);

void kernel(int steps, int n, double a[n]) {
  int t, i;
  /*@ begin Loop(
    transform Tile(tsize=[8, 32], tindex=['tt', 'ii'], loops=['t', 'i'])
    transform Skew(loop='i', by='t')
  ) @*/
  for (int tt = 0; tt < steps; tt += 8)
    for (int ii = tt + 1; ii < tt + n + 6; ii += 32)
      for (t = tt; t < (steps - tt < 8 ? steps : tt + 8); t++)
        for (i = ii > t + 1 ? ii : t + 1; i < (t + n - ii - 1 < 32 ? t + n - 1 : ii + 32); i++)
          a[i - t] = (a[i - t - 1] + a[i - t] + a[i - t + 1]) / 3;
  /*@ end @*/
}
