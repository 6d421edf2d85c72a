/* A stencil of five points on arrays of two dimensions; halos in shared memory. */
void jacobi_2d(int n, int m, double P[restrict n][m], double Q[restrict n][m])
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params {
      param TX[] = [8,16,32];
      param TY[] = [1,2,4,8];
      param STEP[] = [1,2];
      param SC[] = [1,2];
    }
    def input_params { param n[] = [40]; param m[] = [30]; }
    def input_vars {
      decl static double P[n][m] = random;
      decl static double Q[n][m] = 0;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(nd=2, threadCount=[TX,TY], cacheBlocks=True, localTile=[TX,STEP*TY], streamCount=SC)) @*/
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < m - 1; j++)
      Q[i][j] = 0.2 * (P[i][j] + P[i-1][j] + P[i+1][j] + P[i][j-1] + P[i][j+1]);
  /*@ end @*/
  /*@ end @*/
}
