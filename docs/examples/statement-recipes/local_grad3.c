/* The gradient of u in an element, from Nekbone: three contractions with the derivative matrix D and its
 * transpose Dt, for nelt elements of lx * lx * lx points.
 */
#define nelt 1000
#define lx 10

void local_grad3(double *restrict ur, double *restrict us, double *restrict ut, const double *restrict u,
                 const double *restrict D, const double *restrict Dt);

void local_grad3(double *restrict ur, double *restrict us, double *restrict ut, const double *restrict u,
                 const double *restrict D, const double *restrict Dt)
{
  int e, i, j, k, m;
  /*@ begin CHiLL() @*/
  for (e = 0; e < nelt; e++) {
    for (i = 0; i < lx; i++)
      for (j = 0; j < lx; j++)
        for (k = 0; k < lx; k++)
          for (m = 0; m < lx; m++)
            ur[k + lx * (j + lx * (i + lx * e))] += D[k + lx * m] * u[m + lx * (j + lx * (i + lx * e))];
    for (i = 0; i < lx; i++)
      for (j = 0; j < lx; j++)
        for (k = 0; k < lx; k++)
          for (m = 0; m < lx; m++)
            us[k + lx * (j + lx * (i + lx * e))] += u[k + lx * (m + lx * (i + lx * e))] * Dt[m + lx * j];
    for (i = 0; i < lx; i++)
      for (j = 0; j < lx; j++)
        for (k = 0; k < lx; k++)
          for (m = 0; m < lx; m++)
            ut[k + lx * (j + lx * (i + lx * e))] += u[k + lx * (j + lx * (m + lx * e))] * Dt[m + lx * i];
  }
  /*@ end @*/
}
