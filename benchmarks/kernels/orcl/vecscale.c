/* vecScale of the OrCL paper, Table I: w = alpha w. */
void vecscale(int n, double alpha, double *restrict w)
{
  int i;

  /*@ begin PerfTuning(
    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      # The paper's Fig. 2.  WG = 0 is added: as many groups as give each item one element.  Left out are cacheBlocks
      # and streamCount, which have one value here so far, and unrollInner, which needs a loop inside the original's.
      param WI[] = [32, 64, 128, 256];
      param WG[] = [0, 4, 8, 16, 32, 64, 128];
      param SH[] = [True, False];
      param VH[] = [0, 2, 4];
      param CL[] = ['', '-cl-fast-relaxed-math'];
    }

    def input_params {
      param n[] = [1000000];
    }

    def input_vars {
      decl double alpha = random;
      decl dynamic double w[n] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 40;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(workGroups=WG if WG > 0 else (n + WI - 1) // WI, workItemsPerGroup=WI,
        sizeHint=SH, vecHint=VH, clFlags=CL)
  ) @*/
  for (i = 0; i <= n - 1; i++)
    w[i] = alpha * w[i];
  /*@ end @*/
  /*@ end @*/
}
