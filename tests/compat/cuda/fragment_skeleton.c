/*@ global @*/
/*@ external @*/
int main(void)
{
  /*@ declarations @*/
  /*@ prologue @*/
  int orio_i;
  for (orio_i = 0; orio_i < ORIO_REPS; orio_i++) {
    /*@ begin inner measurement @*/
    /*@ tested code @*/
    /*@ end inner measurement @*/
    /*@ validation code @*/
  }
  /*@ epilogue @*/
  return 0;
}
