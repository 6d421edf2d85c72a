int push(int n, int *stack);

int push(int n, int *stack) {
  int i, j, top = 1;
  /*@ begin Loop(
    transform BoundReplace()
  ) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < top + 1; j++) {
      stack[j] = i;
      top = i;
    }
  /*@ end @*/
  return top;
}
