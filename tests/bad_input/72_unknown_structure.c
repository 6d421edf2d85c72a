/* 72_unknown_structure */
void axpy(int n, double a, double *x, double *y)
{
  int i;
  /*@ begin PerfTuning(
  def build { arg build_command = 'gcc -O1'; }
  def performance_counter { arg repetitions = 2; }
  def performance_params { param UF[] = [1, 2, 4]; }
  def input_params { param n[] = [1000]; }
  def input_vars {
    decl dynamic double x[n] = random;
    decl dynamic double y[n] = random;
    decl struct scalar a = random;
  }
  def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop(
    transform Unroll(ufactor=UF)
    for (i = 0; i <= n - 1; i++)
      y[i] = y[i] + a * x[i];
  ) @*/
    for (i = 0; i <= n - 1; i++)
      y[i] = y[i] + a * x[i];
  /*@ end @*/
  /*@ end @*/
}
