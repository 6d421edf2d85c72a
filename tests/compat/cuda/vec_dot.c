/* The sum of products, added to what `result` holds already. */
void vec_dot(int n, const double *restrict x, const double *restrict y, double *result)
{
  double s = *result;
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,1025,32);
      param BC[] = range(14,113,14);
      param SC[] = [1,2,4];
      param PL[] = [0,16,48];
    }
    def input_params { param n[] = [2000]; }
    def input_vars {
      decl double s = 3.5;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, streamCount=SC, preferL1Size=PL)
    for (i=0; i<=n-1; i++)
      s = s + x[i]*y[i];
  ) @*/
  for (i=0; i<=n-1; i++)
    s = s + x[i]*y[i];
  /*@ end @*/
  /*@ end @*/
  *result = s;
}
