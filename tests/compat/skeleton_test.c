#include <stdio.h>
/*@ global @*/
/*@ external @*/
int main(void)
{
  /*@ declarations @*/
  /*@ prologue @*/
  /*@ begin outer measurement @*/
  /*@ begin inner measurement @*/
  /*@ tested code @*/
  /*@ end inner measurement @*/
  /*@ end outer measurement @*/
  /*@ validation code @*/
  printf("/*@ coordinate @*/\n");
  /*@ epilogue @*/
  return 0;
}
