/* x = a x, without a specification and with the code in the annotation alone. */
void vec_scale(int n, double a, double *x)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=64, blockCount=28, preferL1Size=16)
    for (i=0; i<=n-1; i++)
      x[i] = a*x[i];
  ) @*/
  /*@ end @*/
}
