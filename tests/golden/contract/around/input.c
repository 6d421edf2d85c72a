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
  for (e = 0; e < 20; e++)
    for (i = 0; i < 16; i++)
      for (k = 0; k < 8; k++)
        c[e][i] += a[e][k][i] * b[k];
  /*@ end @*/
}
