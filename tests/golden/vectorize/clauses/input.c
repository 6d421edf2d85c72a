int kernel(int n, float *restrict z, const float *restrict x, const int *restrict c);

int kernel(int n, float *restrict z, const float *restrict x, const int *restrict c) {
  int i, k = 0, count = 0;
  float t;
  /*@ begin Loop(
    transform Vectorize(aligned=['z', 'x'], alignment=32, simdlen=8)
  ) @*/
  for (i = 0; i < n; i++) {
    t = x[i] - 0.5f;
    z[i] = t * t;
    count += c[k];
    k += 2;
  }
  /*@ end @*/
  return count;
}
