void kernel(double a[restrict 12][40]);

void kernel(double a[restrict 12][40]) {
  /*@ begin Loop(
    transform Coalesce(index='ij')
  ) @*/
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 40; j++) {
      double t = a[i][j];
      a[i][j] = t * t;
    }
  /*@ end @*/
}
