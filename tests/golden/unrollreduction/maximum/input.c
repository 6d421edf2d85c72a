long kernel(int n, const long *x);

long kernel(int n, const long *x) {
  long best = x[0];
  /*@ begin Loop(
    transform UnrollReduction(ufactor=2)
  ) @*/
  for (int i = 1; i < n; i++)
    if (x[i] > best)
      best = x[i];
  /*@ end @*/
  return best;
}
