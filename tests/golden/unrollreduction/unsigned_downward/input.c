unsigned kernel(unsigned n, const unsigned *x);

unsigned kernel(unsigned n, const unsigned *x) {
  unsigned i, bits = 0, sum = 0;
  /*@ begin Loop(
    transform UnrollReduction(ufactor=2)
  ) @*/
  for (i = n; i > 0; i--) {
    /* both at once */
    bits |= x[i - 1];
    sum += x[i - 1];
  }
  /*@ end @*/
  return bits ^ sum;
}
