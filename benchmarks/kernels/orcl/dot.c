/* Inner product of two vectors: a sum for each group on the device, added up on the host. */
void dot(int n, const double *restrict x, const double *restrict y, double *result)
{
  double s = 0.0;
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
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }

    def assumptions {
      arg reassociate = True;
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
    s += x[i] * y[i];
  /*@ end @*/
  /*@ end @*/
  *result = s;
}
