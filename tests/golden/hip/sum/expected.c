long total(int n, const int *c);

long total(int n, const int *c) {
  int i;
  long s = 7, most = 0;
  /*@ begin Loop(
    transform HIP(blockCount=16, threadCount=32, spread='blocked')
  ) @*/
  {
    void orio_hip_total_0(const int *c, long orio_count_c, long orio_trips_i, long *s, long *most);
    orio_hip_total_0(c, n, n - 2, &s, &most);
  }
  i = n - 1 > 1 ? n - 1 : 1;
  /*@ end @*/
  return s + most + i;
}
