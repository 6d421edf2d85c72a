/* Types of all sizes: what is no `double` stays what it is. */
void types(int n, long scale, const int *restrict c, const unsigned char *restrict b, const float *restrict f,
           long *restrict l, int *restrict k, float *restrict g)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,257,32);
      param VW[] = [1,2];
      param BC[] = [0,2];
    }
    def input_params { param n[] = [100]; }
    def input_vars {
      decl long scale = 3;
      decl dynamic int c[n] = random;
      decl dynamic unsigned char b[n] = random;
      decl dynamic float f[n] = random;
      decl dynamic long l[n] = 0;
      decl dynamic int k[n] = 0;
      decl dynamic float g[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, vectorWidth=VW, blockCount=BC)) @*/
  for (i = 0; i < n; i++) {
    l[i] = l[i] + scale * c[i];
    k[i] = c[i] / 2 + b[i];
    g[i] = f[i] / 3 + g[i];
  }
  /*@ end @*/
  /*@ end @*/
}
