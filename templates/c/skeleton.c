/*@ global @*/
/*@ external @*/
int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  /*@ declarations @*/
  /*@ prologue @*/
  /*@ begin outer measurement @*/
  while (orio_more()) {
    /*@ begin inner measurement @*/
    /*@ tested code @*/
    /*@ end inner measurement @*/
    /*@ validation code @*/
  }
  /*@ end outer measurement @*/
  /*@ epilogue @*/
  return 0;
}
