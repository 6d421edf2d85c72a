/* matVec of the OrCL paper, Table I: y = A x, row-major; each item does whole rows. */
void matvec(int n, const double A[restrict n][n], const double *restrict x, double *restrict y)
{
  int i, j;

  /*@ begin PerfTuning(
    def performance_counter {
      arg repetitions = 5;
      arg time = 'kernel';
    }

    def performance_params {
      # The paper's Fig. 2, and what processors need: small groups; WG = 0, as many groups as give each item one row;
      # SP = 'blocked', where an item does neighbouring rows.  Left out is cacheBlocks: rows are read once.
      param WI[] = [1, 4, 32, 64, 128, 256];
      param WG[] = [0, 4, 8, 16, 32, 64, 128];
      param SP[] = ['strided', 'blocked'];
      param SH[] = [True, False];
      param UI[] = [1, 2, 3, 8];
      param VH[] = [0, 2, 4];
      param CL[] = ['', '-cl-fast-relaxed-math'];

      # an item with one row has nothing to spread
      constraint one_row = WG > 0 or SP == 'strided';
    }

    def input_params {
      param n[] = [1000];
    }

    def input_vars {
      decl dynamic double A[n][n] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 40;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(workGroups=WG, workItemsPerGroup=WI,
        spread=SP, sizeHint=SH, vecHint=VH, unrollInner=UI, clFlags=CL)
  ) @*/
  for (i = 0; i <= n - 1; i++) {
    double s = 0.0;

    for (j = 0; j <= n - 1; j++)
      s += A[i][j] * x[j];
    y[i] = s;
  }
  /*@ end @*/
  /*@ end @*/
}
