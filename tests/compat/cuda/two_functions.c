/* Two functions with a specification each, and a third one whose loop stands between pragmas. */
void first(int n, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param TC[] = [32,64]; }
    def input_params { param n[] = [50]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ Loop(transform CUDA(threadCount=TC)) @*/
  for (i = 0; i < n; i++)
    y[i] = x[i] * x[i];
  /*@ @*/
  /*@ end @*/
}

void second(int n, const double *restrict x, double *restrict z)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param BC[] = [1,2]; }
    def input_params { param n[] = [50]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double z[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(blockCount=BC)) @*/
  for (i = 0; i < n; i++)
    z[i] = z[i] - x[i];
  /*@ end @*/
  /*@ end @*/
}

void third(int n, double a, double *restrict w)
{
  int i;
  #pragma Orio Loop(transform CUDA(threadCount=32, blockCount=2) for (i=0; i<=n-1; i++) w[i] = w[i] + a;)
  for (i = 0; i < n; i++)
    w[i] = w[i] + a;
  #pragma Oiro
}
