void first(int n, double *x)
{
  int i;
  /*@ begin Loop(transform Unroll(ufactor=UF)) @*/
  for (i = 0; i < n; i++)
    x[i] = 0;
  /*@ end @*/
  /*@ begin Loop(transform Unroll(ufactor=UF)) @*/
  for (i = 0; i < n; i++)
    x[i] += i;
  /*@ end @*/
}

void second(int n, double *x)
{
  int i;
  /*@ begin Loop(transform Unroll(ufactor=UF)) @*/
  for (i = n - 1; i >= 0; i--)
    x[i] *= 2;
  /*@ end @*/
}
