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
  {
    const int i_stop = n < m ? n : m;
    for (i = 0; i_stop > 1 && i < i_stop - 1; i += 2) {
      for (j = 0; j < n; j++) {
        {
          float t = b[i * n + j] * SCALE;
          a[i * n + j] += t;
          {
            float other = a[i * n + j];
            a[i * n + j] = b[i * n + j];
            b[i * n + j] = other;
          }
        }
        {
          float t = b[(i + 1) * n + j] * SCALE;
          a[(i + 1) * n + j] += t;
          {
            float other = a[(i + 1) * n + j];
            a[(i + 1) * n + j] = b[(i + 1) * n + j];
            b[(i + 1) * n + j] = other;
          }
        }
      }
    }
    for (; i < i_stop; i++)
      for (j = 0; j < n; j++) {
        float t = b[i * n + j] * SCALE;
        a[i * n + j] += t;
        {
          float other = a[i * n + j];
          a[i * n + j] = b[i * n + j];
          b[i * n + j] = other;
        }
      }
  }
  /*@ end @*/
}
