long total(int n, const int *c);

long total(int n, const int *c) {
  int i;
  long s = 7, most = 0;
  /*@ begin Loop(
    transform HIP(blockCount=16, threadCount=32, spread='blocked')
  ) @*/
  for (i = 1; i < n - 1; i++) {
    s += 4 * c[i] - c[i - 1];
    most |= c[i + 1];
  }
  /*@ end @*/
  return s + most + i;
}
