void kernel(int n, int m, double a[n][m]);

void kernel(int n, int m, double a[n][m]) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i'], ufactors=[3])
  ) @*/
  for (i = 0; i < n; i++)
    for (j = i + 1; j <= 2 * i + m; j++)
      a[i][j - i] *= 0.5;
  /*@ end @*/
}
