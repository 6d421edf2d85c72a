/* c(i,j) += a(i,k) * b(k,j), tuned over loop orders and unroll factors. */

void contraction(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n])
{
  int i, j, k;
  /*@ begin PerfTuning(
    def input_params { param n[] = [200]; }
    def input_vars {
      decl dynamic double c[n][n] = random;
      decl dynamic double a[n][n] = random;
      decl dynamic double b[n][n] = random;
    }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin CHiLL(
    ORDER[] = [("i", "j", "k"), ("i", "k", "j"), ("k", "i", "j")];
    UF0[] = [1, 2, 4];
    permute(0, ORDER)
    unroll(0, ORDER[1], UF0)
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
  /*@ end @*/
  /*@ end @*/
}
