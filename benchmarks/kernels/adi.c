/* Alternating direction implicit (Peaceman-Rachford) steps for the heat equation on a square grid.
 *
 * Each half step solves one tridiagonal system per grid line: first along the rows, then along the columns.  The
 * systems share their matrix (1 + 2r on the diagonal, -r beside it), so its factors w and c are computed once.
 * Written line by line as the method is stated: the column solves walk through memory with the stride of a row
 * until their loops are interchanged, and the backward substitutions count down.
 */

#define N 800
#define STEPS 2

double u[N][N];
double v[N][N];
double d[N][N];
double w[N];
double c[N];

void adi(double r)
{
  int t, i, j;

  /*@ begin PerfTuning(
    def build {
      arg build_command = 'gcc -O3 -march=native';
    }

    def performance_counter {
      arg repetitions = 5;
    }

    def performance_params {
      # rows: lines are independent, the recurrence runs along j
      param ROWS_SWAP[] = [False, True];
      param ROWS_T[] = [1, 8, 16, 32, 64];
      param ROWS_U[] = [1, 2, 4, 8];

      # columns: lines are independent, the recurrence runs along i
      param COLS_SWAP[] = [False, True];
      param COLS_T[] = [1, 64, 128, 256, 512];
      param COLS_U[] = [1, 2, 4, 8];

      param OMP[] = [False, True];

      # threads share out lines or blocks of lines, never the recurrence
      constraint parallel_rows = not OMP or not ROWS_SWAP or ROWS_T > 1;
      constraint parallel_cols = not OMP or not COLS_SWAP or COLS_T > 1;
    }

    def input_params {
      param N[] = [800];
    }

    def input_vars {
      decl double r = 0.5;
      decl static double u[N][N] = random;
      decl static double v[N][N] = 0;
      decl static double d[N][N] = 0;
      decl static double w[N] = 0;
      decl static double c[N] = 0;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 80;
    }
  ) @*/
  c[0] = 0.0;
  for (i = 1; i < N - 1; i++) {
    w[i] = 1.0 / (1.0 + 2.0 * r - r * c[i - 1]);
    c[i] = r * w[i];
  }

  for (t = 0; t < STEPS; t++) {
    /* Along the rows: forward elimination, backward substitution. */
    /*@ begin Loop(transform Composite(
          tile = [('i', ROWS_T, 'ii')],
          permut = [[['ii'], 'j', 'i'] if ROWS_SWAP else [['ii'], 'i', 'j']],
          unrolljam = (['i' if ROWS_SWAP else 'j'], [ROWS_U]),
          openmp = (OMP, 'omp parallel for private(i, j)'))
    ) @*/
    for (i = 1; i < N - 1; i++)
      for (j = 1; j < N - 1; j++)
        d[i][j] = ((1.0 - 2.0 * r) * u[i][j] + r * (u[i - 1][j] + u[i + 1][j]) + r * d[i][j - 1]) * w[j];
    /*@ end @*/

    /*@ begin Loop(transform Composite(
          tile = [('i', ROWS_T, 'ii')],
          permut = [[['ii'], 'j', 'i'] if ROWS_SWAP else [['ii'], 'i', 'j']],
          unrolljam = (['i' if ROWS_SWAP else 'j'], [ROWS_U]),
          openmp = (OMP, 'omp parallel for private(i, j)'))
    ) @*/
    for (i = 1; i < N - 1; i++)
      for (j = N - 2; j >= 1; j--)
        v[i][j] = d[i][j] + c[j] * v[i][j + 1];
    /*@ end @*/

    /* Along the columns. */
    /*@ begin Loop(transform Composite(
          tile = [('j', COLS_T, 'jj')],
          permut = [[['jj'], 'i', 'j'] if COLS_SWAP else [['jj'], 'j', 'i']],
          unrolljam = (['j' if COLS_SWAP else 'i'], [COLS_U]),
          openmp = (OMP, 'omp parallel for private(i, j)'),
          vector = (COLS_SWAP, ['ivdep']))
    ) @*/
    for (j = 1; j < N - 1; j++)
      for (i = 1; i < N - 1; i++)
        d[i][j] = ((1.0 - 2.0 * r) * v[i][j] + r * (v[i][j - 1] + v[i][j + 1]) + r * d[i - 1][j]) * w[i];
    /*@ end @*/

    /*@ begin Loop(transform Composite(
          tile = [('j', COLS_T, 'jj')],
          permut = [[['jj'], 'i', 'j'] if COLS_SWAP else [['jj'], 'j', 'i']],
          unrolljam = (['j' if COLS_SWAP else 'i'], [COLS_U]),
          openmp = (OMP, 'omp parallel for private(i, j)'),
          vector = (COLS_SWAP, ['ivdep']))
    ) @*/
    for (j = 1; j < N - 1; j++)
      for (i = N - 2; i >= 1; i--)
        u[i][j] = d[i][j] + c[i] * u[i + 1][j];
    /*@ end @*/
  }
  /*@ end @*/
}
