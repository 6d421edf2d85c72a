double c[20][16], a[20][8][16], b[8];

void kernel(void);

void kernel(void) {
  int e, i, k;
  /*@ begin Loop(
    for (e = 0; e < 20; e++) {
      transform Contract(columns=('i', 8), prefetch=('e', 1), sums='scalars')
      for (i = 0; i < 16; i++)
        for (k = 0; k < 8; k++)
          c[e][i] += a[e][k][i] * b[k];
    }
  ) @*/
  for (e = 0; e < 20; e++) {
    for (i = 0; i < 16; i += 8) {
      const int ahead = e <= 18 ? e + 1 : e;
      __builtin_prefetch(&c[ahead][i], 1, 3);
      for (int column = 0; column < 8; column++) {
        double sum0;
        sum0 = c[e][i + column];
        for (k = 0; k < 8; k++) {
          sum0 += a[e][k][i + column] * b[k];
        }
        c[e][i + column] = sum0;
      }
    }
  }
  /*@ end @*/
}
