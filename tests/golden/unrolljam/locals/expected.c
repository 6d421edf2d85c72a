void kernel(int n, int m, double b[restrict n][m], const double *restrict a);

void kernel(int n, int m, double b[restrict n][m], const double *restrict a) {
  int i, j;
  /*@ begin Loop(
    transform UnrollJam(ufactor=3)
  ) @*/
  for (i = 0; n > 2 && i < n - 2; i += 3) {
    const int stop = m < 8 ? m : 8; // the same for all rows
    double s = a[i];
    s = s * s;
    double s_1 = a[i + 1];
    s_1 = s_1 * s_1;
    double s_2 = a[i + 2];
    s_2 = s_2 * s_2;
    for (j = 0; j < stop; j++) {
      {
        double t = s + j;
        b[i][j] = t * t;
      }
      {
        double t = s_1 + j;
        b[i + 1][j] = t * t;
      }
      {
        double t = s_2 + j;
        b[i + 2][j] = t * t;
      }
    }
  }
  for (; i < n; i++) {
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
