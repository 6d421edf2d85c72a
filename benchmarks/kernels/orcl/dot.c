/* Inner product of two vectors: a sum for each group on the device, added up on the host. */
void dot(int n, const double *restrict x, const double *restrict y, double *result)
{
  double s = 0.0;
  int i;

  /*@ begin PerfTuning(
    def performance_counter {
      arg repetitions = 5;
      arg time = 'kernel';
    }

    def performance_params {
      # The paper's Fig. 2, and what processors need: groups of 1024, or of one item; WG = 0, as many groups as give each item one
      # element; SP = 'blocked', where an item goes along neighbouring elements, as one thread does all items of a
      # group there.  Left out is cacheBlocks: no two items read the same element.
      param WI[] = [1, 32, 64, 128, 256, 1024];
      param WG[] = [0, 4, 8, 16, 32, 64, 128, 256];
      param SP[] = ['strided', 'blocked'];
      param UI[] = [1, 2, 3];
      param SH[] = [True, False];
      param VH[] = [0, 2, 4];
      param CL[] = ['', '-cl-fast-relaxed-math'];

      # an item with one element has nothing to spread or to unroll
      constraint one_element = WG > 0 or (SP == 'strided' and UI == 1);
      # a group for each element
      constraint some_groups = WG > 0 or WI > 1;
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
  /*@ begin Loop(transform OpenCL(workGroups=WG, workItemsPerGroup=WI,
        spread=SP, unrollInner=UI, sizeHint=SH, vecHint=VH, clFlags=CL)
  ) @*/
  for (i = 0; i <= n - 1; i++)
    s += x[i] * y[i];
  /*@ end @*/
  /*@ end @*/
  *result = s;
}
