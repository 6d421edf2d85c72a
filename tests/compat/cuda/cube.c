/* Arrays of three dimensions, blocks and grid of three dimensions, each loop over more than its blocks. */
void cube(int n, double U[restrict n][6][5], double V[restrict n][6][5])
{
  int i, j, k;
  /*@ begin PerfTuning (
    def performance_params {
      param TX[] = [2,4,8];
      param TY[] = [1,2,4];
      param TZ[] = [1,2];
      param BX[] = [0,1,2];
    }
    def input_params { param n[] = [11]; }
    def input_vars {
      decl static double U[n][6][5] = random;
      decl static double V[n][6][5] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=3, threadCount=[TX,TY,TZ], blockCount=[BX,2,1] if BX > 0 else 0)) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < 6; j++)
      for (k = 0; k < 5; k++)
        V[i][j][k] = U[i][j][k] + (double)i / 2 - j * k;
  /*@ end @*/
  /*@ end @*/
}
