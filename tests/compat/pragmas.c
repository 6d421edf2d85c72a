void scale(int n, double a, double *x)
{
  int i;
#pragma Orio Loop(transform Unroll(ufactor=4))
  for (i = 0; i <= n - 1; i++)
    x[i] = a * x[i];
#pragma Oiro
}

void shift(int n, double a, double *x)
{
  int i;
/*@ begin PerfTuning(
  def performance_params { param T1_I[] = [1, 32]; param U1_I[] = [1, 2]; param VEC1[] = [False, True]; }
  def input_params { param n[] = [100]; }
  def input_vars { decl dynamic double x[n] = random; decl double a = random; }
) @*/
#pragma orio loop begin "shift"
  for (i = 0; i <= n - 1; i++)
    x[i] = a + x[i];
#pragma orio loop end
/*@ end @*/
}
