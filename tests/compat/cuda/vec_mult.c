/* Products of single elements in single precision, with vectors and a limit on registers. */
void vec_mult(int n, const float *restrict f, const float *restrict g, float *restrict h)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,257,32);
      param VW[] = [1,2,4,8];
      param MR[] = [24,32,64];
    }
    def input_params { param n[] = [300]; }
    def input_vars {
      decl dynamic float f[n] = random;
      decl dynamic float g[n] = random;
      decl dynamic float h[n] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, vectorWidth=VW, maxRegisters=MR)) @*/
  for (i = 0; i < n; i++)
    h[i] = f[i] * g[i] * 0.5f;
  /*@ end @*/
  /*@ end @*/
}
