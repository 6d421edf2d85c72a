/* Several reductions in one loop, each with the value that it begins with: a sum, a product, the least and the
   greatest element. */
void vec_extremes(int n, const double *restrict x, const int *restrict c, double *restrict found, int *restrict ends)
{
  double s = found[0], p = found[1], top = found[2];
  int low = ends[0], i;
  /*@ begin PerfTuning (
    def performance_params {
      param TC[] = range(32,513,32);
      param BC[] = [1,2,14,56];
      param CO[] = [1,4];
    }
    def input_params { param n[] = [700]; }
    def input_vars {
      decl double s = 1;
      decl double p = 1;
      decl double top = 0;
      decl int low = 9;
      decl dynamic double x[n] = random;
      decl dynamic int c[n] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, blockCount=BC, coarsen=CO)) @*/
  for (i = 0; i < n; i++) {
    s += x[i];
    p *= 1.0 + x[i] / 1024;
    if (x[i] > top)
      top = x[i];
    low = c[i] < low ? c[i] : low;
  }
  /*@ end @*/
  /*@ end @*/
  found[0] = s;
  found[1] = p;
  found[2] = top;
  ends[0] = low;
}
