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
        double sum0[8];
        double sum1[8];
        double sum2[8];
        for (int column = 0; column < 8; column++) {
          sum0[column] = 0;
          sum1[column] = 0;
          sum2[column] = 0;
        }
        for (int m = 0; m < 6; m++) {
          for (int column = 0; column < 8; column++) {
            sum0[column] -= u_packed[i + 6 * m] * v[k + column + 6 * (6 * m)];
            sum1[column] -= u_packed[i + 1 + 6 * m] * v[k + column + 6 * (6 * m)];
            sum2[column] -= u_packed[i + 2 + 6 * m] * v[k + column + 6 * (6 * m)];
          }
        }
        for (int column = 0; column < 8; column++) {
          t[k + column + 6 * (6 * i)] = sum0[column];
          t[k + column + 6 * (6 * (i + 1))] = sum1[column];
          t[k + column + 6 * (6 * (i + 2))] = sum2[column];
        }
      }
      {
        const int k = 32;
        double sum0[4];
        double sum1[4];
        double sum2[4];
        for (int column = 0; column < 4; column++) {
          sum0[column] = 0;
          sum1[column] = 0;
          sum2[column] = 0;
        }
        for (int m = 0; m < 6; m++) {
          for (int column = 0; column < 4; column++) {
            sum0[column] -= u_packed[i + 6 * m] * v[k + column + 6 * (6 * m)];
            sum1[column] -= u_packed[i + 1 + 6 * m] * v[k + column + 6 * (6 * m)];
            sum2[column] -= u_packed[i + 2 + 6 * m] * v[k + column + 6 * (6 * m)];
          }
        }
        for (int column = 0; column < 4; column++) {
          t[k + column + 6 * (6 * i)] = sum0[column];
          t[k + column + 6 * (6 * (i + 1))] = sum1[column];
          t[k + column + 6 * (6 * (i + 2))] = sum2[column];
        }
      }
    }
  }
  /*@ end @*/
}
