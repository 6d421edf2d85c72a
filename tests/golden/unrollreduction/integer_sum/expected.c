int kernel(int n, const int *x);

int kernel(int n, const int *x) {
  int i, s = 0;
  /*@ begin Loop(
    transform UnrollReduction(ufactor=4)
  ) @*/
  {
    unsigned s_0 = 0;
    unsigned s_1 = 0;
    unsigned s_2 = 0;
    unsigned s_3 = 0;
    for (i = 0; n > 3 && i < n - 3; i += 4) {
      s_0 += x[i];
      s_1 += x[i + 1];
      s_2 += x[i + 2];
      s_3 += x[i + 3];
    }
    s += s_0 + s_1 + s_2 + s_3;
    for (; i < n; i++)
      s += x[i];
  }
  /*@ end @*/
  return s;
}
