#define IDX(r, c) ((r) * n + (c))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define fp float
#define HALF(x) ((x) * SCALE)
#define SCALE 0.5f
#define SWAP(a, b) do { fp other = a; a = b; b = other; } while (0)
void kernel(int n, int m, fp *restrict a, fp *restrict b) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=U)
  ) @*/
  for (i = 0; i < MIN(n, m); i++)
    for (j = 0; j < n; j++) {
      fp t = HALF(b[IDX(i, j)]);
      a[IDX(i, j)] += t;
      SWAP(a[IDX(i, j)], b[IDX(i, j)]);
    }
  /*@ end @*/
}
