void kernel(double a[restrict 12][40]);

void kernel(double a[restrict 12][40]) {
  /*@ begin Loop(
    transform Coalesce(index='ij')
  ) @*/
  for (long long ij = 0; ij < 480; ij++) {
    int i = (int)(ij / 40);
    int j = (int)(ij % 40);
    {
      double t = a[i][j];
      a[i][j] = t * t;
    }
  }
  /*@ end @*/
}
