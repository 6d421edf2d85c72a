void kernel(int n, double *y);

void kernel(int n, double *y) {
  int i;
  /*@ begin Loop(
    transform Specialize(on='n', values=[])
  ) @*/
  for (i = 0; i < n; i++)
    y[i] = 0.0;
  /*@ end @*/
}
