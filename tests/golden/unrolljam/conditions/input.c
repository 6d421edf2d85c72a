#define WITH_TERM
#define LEVEL 2
void kernel(int n, double *restrict a, const double *restrict b) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=U)
  ) @*/
  for (i = 0; i < n; i++)
#if LEVEL > 1
    for (j = 0; j < n; j++) {
#  ifdef WITH_TERM
      a[i * n + j] = b[j] + 1;
#  else
      a[i * n + j] = b[j];
#  endif
    }
#else
    a[i] = nothing here is C;
#endif
  /*@ end @*/
}
