long kernel(int n, const long *x);

long kernel(int n, const long *x) {
  long best = x[0];
  /*@ begin Loop(
    transform UnrollReduction(ufactor=2)
  ) @*/
  {
    long best_1 = best;
    int i;
    for (i = 1; n > 2 && i < n - 1; i += 2) {
      if (x[i] > best)
        best = x[i];
      if (x[i + 1] > best_1)
        best_1 = x[i + 1];
    }
    if (best_1 > best)
      best = best_1;
    for (; i < n; i++)
      if (x[i] > best)
        best = x[i];
  }
  /*@ end @*/
  return best;
}
