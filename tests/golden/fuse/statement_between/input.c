void kernel(int n, double *restrict a, const double *restrict b, double *restrict out);

void kernel(int n, double *restrict a, const double *restrict b, double *restrict out) {
  int i, k;
  /*@ begin Loop(
    transform Fuse(loops=['i', 'k'])
  ) @*/
  double least = b[0];
  double sum = 0;
  for (i = 0; i < n; i++)
    a[i] = b[i] - least;
  out[0] = least;
  for (k = 0; k < n; k++)
    sum += b[k];
  out[1] = sum;
  /*@ end @*/
  out[2] = k;
}
