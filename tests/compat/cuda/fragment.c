/*@ begin PerfTuning (
  def build
  {
    arg build_command = 'nvcc -O3 -arch=sm_75 @CFLAGS';
  }
  def performance_counter
  {
    arg method = 'basic timer';
    arg repetitions = 3;
  }
  def performance_params
  {
    param TC[] = range(32,257,32);
    param BC[] = range(14,113,14);
    param CFLAGS[] = ['', '-use_fast_math'];
  }
  def input_params
  {
    let SIZE = 40;
    param MSIZE = SIZE;
    param NSIZE = SIZE - 5;
  }
  def input_vars
  {
    arg decl_file = 'fragment_decl.h';
    arg init_file = 'fragment_init.c';
  }
  def validation
  {
    arg validation_file = 'fragment_valid.c';
  }
  def performance_test_code
  {
    arg skeleton_code_file = 'fragment_skeleton.c';
  }
  def search
  {
    arg algorithm = 'Exhaustive';
    arg total_runs = -1;
  }
) @*/

int i, j;

/*@ begin Loop(
  transform CUDA(threadCount=TC, blockCount=BC)
  for(i=0; i<=MSIZE-1; i++)
    for(j=0; j<=NSIZE-1; j++)
      y[i] = y[i] + A[i*NSIZE+j] * x[j];
) @*/
/*@ end @*/
/*@ end @*/
