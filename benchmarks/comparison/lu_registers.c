/* LU factorisation in place without pivoting, the trailing update tiled for the caches and for the registers.
 *
 * The register tile of up to 8 x 8 makes long code: here the time goes into transforming and compiling.
 */

void lu_registers(int n, double a[n][n])
{
  int i, j, k;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native';
    }

    def performance_counter {
      arg repetitions = 3;
    }

    def performance_params {
      param T_I[] = [1, 16, 32, 64, 128];
      param T_J[] = [1, 32, 64, 128, 256];
      param U_I[] = [1, 2, 4, 6, 8];
      param U_J[] = [1, 2, 4, 6, 8];
      param SCR[] = [False, True];
      param VEC[] = [False, True];

      constraint tile_i = T_I == 1 or T_I >= U_I;
      constraint tile_j = T_J == 1 or T_J >= U_J;
    }

    def input_params {
      param n[] = [256];
    }

    def input_vars {
      decl dynamic double a[n][n];
      arg init_file = 'init/lu_registers.c';
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 200;
    }
  ) @*/
  for (k = 0; k < n - 1; k++) {
    for (i = k + 1; i < n; i++)
      a[i][k] = a[i][k] / a[k][k];

    /*@ begin Loop(
      transform Composite(
        tile = [('i', T_I, 'ii'), ('j', T_J, 'jj')],
        permut = [[['ii'], ['jj'], 'i', 'j']],
        regtile = (['i', 'j'], [U_I, U_J]),
        scalarreplace = (SCR, 'double'),
        vector = (VEC, ['ivdep'])
      )
    ) @*/
    for (i = k + 1; i < n; i++)
      for (j = k + 1; j < n; j++)
        a[i][j] = a[i][j] - a[i][k] * a[k][j];
    /*@ end @*/
  }
  /*@ end @*/
}
