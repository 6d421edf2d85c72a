void kernel(int n, int m, double b[restrict n][m], const double *restrict a);

void kernel(int n, int m, double b[restrict n][m], const double *restrict a) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=3)
  ) @*/
  for (i = 0; i < n; i++) {
    const int stop = m < 8 ? m : 8; // the same for all rows
    double s = a[i];
    s = s * s;
    for (j = 0; j < stop; j++) {
      double t = s + j;
      b[i][j] = t * t;
    }
  }
  /*@ end @*/
}
