#define N 6

void kernel(double *restrict t, const double *restrict u, const double *restrict v);

/* t(k,j,i) -= u(m,i) * v(k,j,m), first index fastest */
void kernel(double *restrict t, const double *restrict u, const double *restrict v) {
  /*@ begin Loop(
    transform Contract(flatten=[['k', 'j']], rows=('i', 3), columns=('k', 8), pack=['u'], parallel=True)
  ) @*/
  {
    double u_packed[36];
    for (int m_at = 0; m_at < 6; m_at++)
      for (int i_at = 0; i_at < 6; i_at++)
        u_packed[i_at + 6 * m_at] = u[m_at + 6 * i_at];
    #if defined(_OPENMP)
    #pragma omp parallel for
    #endif
    for (int i = 0; i < 6; i += 3) {
      for (int k = 0; k < 32; k += 8) {
        double sum[3][8];
        for (int row = 0; row < 3; row++)
          for (int column = 0; column < 8; column++)
            sum[row][column] = 0;
        for (int m = 0; m < 6; m++) {
          for (int row = 0; row < 3; row++)
            for (int column = 0; column < 8; column++)
              sum[row][column] -= u_packed[i + row + 6 * m] * v[k + column + 6 * (6 * m)];
        }
        for (int row = 0; row < 3; row++)
          for (int column = 0; column < 8; column++)
            t[k + column + 6 * (6 * (i + row))] = sum[row][column];
      }
      {
        const int k = 32;
        double sum[3][4];
        for (int row = 0; row < 3; row++)
          for (int column = 0; column < 4; column++)
            sum[row][column] = 0;
        for (int m = 0; m < 6; m++) {
          for (int row = 0; row < 3; row++)
            for (int column = 0; column < 4; column++)
              sum[row][column] -= u_packed[i + row + 6 * m] * v[k + column + 6 * (6 * m)];
        }
        for (int row = 0; row < 3; row++)
          for (int column = 0; column < 4; column++)
            t[k + column + 6 * (6 * (i + row))] = sum[row][column];
      }
    }
  }
  /*@ end @*/
}
