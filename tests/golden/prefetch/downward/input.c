void scale(long n, double *a);

void scale(long n, double *a) {
  /*@ begin Loop(
    transform Prefetch(aref='a[i]', distance=8, write=True)
  ) @*/
  for (long i = n - 1; i >= 0; i -= 2) {
    /* in place */
    a[i] *= 2;
  }
  /*@ end @*/
}
