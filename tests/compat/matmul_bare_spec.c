/* A fragment in the old manner: no function, sizes as macros, external files, empty code behind the annotation. */
/*@ begin PerfTuning (
  def build
  {
    arg build_command = 'gcc -O3 -fopenmp @CFLAGS';
    arg libs = '-lm -lrt';
  }

  def performance_counter
  {
    arg method = 'basic timer';
    arg repetitions = 3;
  }

  def performance_params
  {
    # tile sizes
    param T1_I[] = [1,16,32,64,128,256,512];
    param T1_J[] = [1,16,32,64,128,256,512];
    param T1_K[] = [1,16,32,64,128,256,512];
    param U_I[] = range(1,31);
    param VEC[] = [False,True];
    param OMP[] = [False, True];
    param CFLAGS[] = ['-O1', '-O2','-O3'];

    constraint tileI = ((T1_I == 1) or (T1_I % U_I == 0));
    constraint cache = (T1_I * T1_K <= 512*512) and (T1_J*T1_K <= 512*512);
  }

  def search
  {
    arg algorithm = 'Randomsearch';
    arg total_runs = 1000;
  }

  def input_params
  {
    let SIZE = 500;
    param MSIZE = SIZE;
    param NSIZE = SIZE;
    param KSIZE = SIZE;
  }

  def input_vars
  {
    arg decl_file = 'matmul_decl.h';
    arg init_file = 'matmul_init.c';
  }
) @*/

int i, j, k;
int ii, jj, kk;

/*@ begin Loop(
  transform Composite(
    tile = [('i',T1_I,'ii'),('j',T1_J,'jj'),('k',T1_K,'kk')],
    permut = [['ii','jj','kk','i','j','k']],
    unrolljam = (['i'],[U_I]),
    vector = (VEC, ['ivdep','vector always']),
    openmp = (OMP, 'omp parallel for private(iii,jjj,kkk,ii,jj,kk,i,j,k)'),
  )
  for(i=0; i<=MSIZE-1; i++)
    for(j=0; j<=NSIZE-1; j++)
      for(k=0; k<=KSIZE-1; k++)
        C[i*NSIZE+j] = C[i*NSIZE+j] + A[i*KSIZE+k] * B[k*NSIZE+j];
) @*/
/*@ end @*/
/*@ end @*/
