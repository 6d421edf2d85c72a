/* The whole file is tuned, with a test program of its own. */
double x[N];

/*@ begin PerfTuning(
  def performance_test_code { arg skeleton_code_file = 'skeleton_test.c'; }
  def validation { arg validation_file = 'skeleton_valid.c'; arg expected_output = 'x'; }
  def performance_params { param U[] = [1, 2]; }
  def input_params { param N[] = [64]; }
  def input_vars { decl static double x[N] = random; decl macro HALF = 'HALF 0.5'; }
  def power { arg method = 'none'; }
) @*/
/*@ begin Loop(
  transform Pragma(pragma_str='omp parallel for')
  for (int i = 0; i < N; i++) x[i] *= HALF;
) @*/
/*@ end @*/
/*@ end @*/
