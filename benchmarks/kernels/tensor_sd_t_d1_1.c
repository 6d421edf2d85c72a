/* Tensor contraction sd_t_d1_1 of the CCSD(T) triples correction (NWChem):
 *
 *   t3(h3,h2,h1,p6,p5,p4) -= t2(h7,p4,p5,h1) * v2(h3,h2,p6,h7), summed over h7
 *
 * The index lists are Fortran's (first index has unit stride), so the C arrays have them in reverse.
 */

void tensor_sd_t_d1_1(int h1d, int h2d, int h3d, int h7d, int p4d, int p5d, int p6d,
                      double t3[restrict p4d][p5d][p6d][h1d][h2d][h3d],
                      double t2[restrict h1d][p5d][p4d][h7d],
                      double v2[restrict h7d][p6d][h2d][h3d])
{
  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native';
    }

    def performance_counter {
      arg repetitions = 3;
    }

    def performance_params {
      # the outer four loops: which slab of v2 stays in cache
      param OUTER[] = [['p4', 'p5', 'p6', 'h1'], ['p4', 'p6', 'p5', 'h1'],
                       ['p6', 'p4', 'p5', 'h1'], ['h1', 'p4', 'p5', 'p6']];
      # the inner three: sums in registers (h7 last) or unit stride (h3 last)
      param INNER[] = [['h2', 'h3', 'h7'], ['h2', 'h7', 'h3'], ['h7', 'h2', 'h3']];
      param U[] = [1, 2, 4, 8, 16];
      param VEC[] = [False, True];
      param OMP[] = [False, True];

      # sums over h7 depend on one another, so only h3 can be declared free of dependences
      constraint independent = not VEC or INNER[2] == 'h3';
    }

    def input_params {
      param h1d[] = [16];
      param h2d[] = [16];
      param h3d[] = [16];
      param h7d[] = [16];
      param p4d[] = [16];
      param p5d[] = [16];
      param p6d[] = [16];
    }

    def input_vars {
      decl dynamic double t3[p4d][p5d][p6d][h1d][h2d][h3d] = random;
      decl dynamic double t2[h1d][p5d][p4d][h7d] = random;
      decl dynamic double v2[h7d][p6d][h2d][h3d] = random;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 60;
    }
  ) @*/
  /*@ begin Loop(transform Composite(
        permut = [OUTER + INNER],
        unrolljam = ([INNER[2]], [U]),
        openmp = (OMP, 'omp parallel for'),
        vector = (VEC, ['ivdep']))
  ) @*/
  for (int p4 = 0; p4 < p4d; p4++)
    for (int p5 = 0; p5 < p5d; p5++)
      for (int p6 = 0; p6 < p6d; p6++)
        for (int h1 = 0; h1 < h1d; h1++)
          for (int h2 = 0; h2 < h2d; h2++)
            for (int h3 = 0; h3 < h3d; h3++)
              for (int h7 = 0; h7 < h7d; h7++)
                t3[p4][p5][p6][h1][h2][h3] -= t2[h1][p5][p4][h7] * v2[h7][p6][h2][h3];
  /*@ end @*/
  /*@ end @*/
}
