void matvec(int n, double *y, double *A, double *x)
{
  register int i, j;
  /*@ begin PerfTuning( import spec matvec_tuning; ) @*/
  #define min(a, b) ((a) < (b) ? (a) : (b))
  /*@ begin Loop(transform UnrollJam(ufactor=UF)) @*/
  for (i = 0; i <= n - 1; i++)
    for (j = 0; j <= n - 1; j++)
      y[i] = y[i] + A[i * n + j] * x[j];
  /*@ end @*/   // UnrollJam
  /*@ end @*/   // PerfTuning
}
