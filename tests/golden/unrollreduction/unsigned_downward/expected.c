unsigned kernel(unsigned n, const unsigned *x);

unsigned kernel(unsigned n, const unsigned *x) {
  unsigned i, bits = 0, sum = 0;
  /*@ begin Loop(
    transform UnrollReduction(ufactor=2)
  ) @*/
  {
    unsigned bits_1 = 0;
    unsigned sum_1 = 0;
    for (i = n; i > 1; i -= 2) {
      /* both at once */
      bits |= x[i - 1];
      sum += x[i - 1];
      bits_1 |= x[i - 2];
      sum_1 += x[i - 2];
    }
    bits |= bits_1;
    sum += sum_1;
    for (; i > 0; i--) {
      /* both at once */
      bits |= x[i - 1];
      sum += x[i - 1];
    }
  }
  /*@ end @*/
  return bits ^ sum;
}
