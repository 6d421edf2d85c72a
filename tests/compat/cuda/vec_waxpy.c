/* w = a x + y: memory that is pinned, arrays that may stay on the device; no array overlaps another, by promise. */
void vec_waxpy(int n, double a, double *x, double *y, double *w)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = [32,64,128,256,512,1024];
      param PIN[] = [False,True];
      param DEV[] = [True,False];
    }
    def input_params { param n[] = [500]; }
    def input_vars {
      decl double a = 2.5;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl dynamic double w[n] = 0;
    }
    def assumptions { arg noalias = True; }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, pinHostMem=PIN, dataOnDevice=DEV)) @*/
  for (i=0; i<=n-1; i++)
    w[i] = a*x[i] + y[i];
  /*@ end @*/
  /*@ end @*/
}
