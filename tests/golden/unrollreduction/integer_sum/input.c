int kernel(int n, const int *x);

int kernel(int n, const int *x) {
  int i, s = 0;
  /*@ begin Loop(
    transform UnrollReduction(ufactor=4)
  ) @*/
  for (i = 0; i < n; i++)
    s += x[i];
  /*@ end @*/
  return s;
}
