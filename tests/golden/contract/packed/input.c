#define N 6

void kernel(double *restrict t, const double *restrict u, const double *restrict v);

/* t(k,j,i) -= u(m,i) * v(k,j,m), first index fastest */
void kernel(double *restrict t, const double *restrict u, const double *restrict v) {
  /*@ begin Loop(
    transform Contract(flatten=[['k', 'j']], rows=('i', 3), columns=('k', 8), pack=['u'], parallel=True)
  ) @*/
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 6; k++) {
        t[k + 6 * (j + 6 * i)] = 0;
        for (int m = 0; m < N; m++)
          t[k + 6 * (j + 6 * i)] -= u[m + 6 * i] * v[k + 6 * (j + 6 * m)];
      }
  /*@ end @*/
}
