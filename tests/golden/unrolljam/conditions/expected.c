#define WITH_TERM
#define LEVEL 2
void kernel(int n, double *restrict a, const double *restrict b) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=U)
  ) @*/
  for (i = 0; n > 1 && i < n - 1; i += 2) {
    for (j = 0; j < n; j++) {
      a[i * n + j] = b[j] + 1;
      a[(i + 1) * n + j] = b[j] + 1;
    }
  }
  for (; i < n; i++)
    for (j = 0; j < n; j++) {
      a[i * n + j] = b[j] + 1;
    }
  /*@ end @*/
}
