void kernel(int n, int m, double a[n][m]);

void kernel(int n, int m, double a[n][m]) {
  int i, j;
  /*@ begin Loop(
    transform RegTile(loops=['i'], ufactors=[3])
  ) @*/
  for (i = 0; n > 2 && i < n - 2; i += 3) {
    const int newub_j = 2 * i + m;
    for (j = i + 1; j < (newub_j < i + 3 ? newub_j + 1 : i + 3); j++)
      a[i][j - i] *= 0.5;
    for (j = i + 2; j < (2 * (i + 1) + m < i + 3 ? 2 * (i + 1) + m + 1 : i + 3); j++)
      a[i + 1][j - (i + 1)] *= 0.5;
    for (j = i + 3; j <= newub_j; j++) {
      a[i][j - i] *= 0.5;
      a[i + 1][j - (i + 1)] *= 0.5;
      a[i + 2][j - (i + 2)] *= 0.5;
    }
    for (j = i + 3 <= newub_j ? newub_j + 1 : i + 3; j <= 2 * (i + 1) + m; j++)
      a[i + 1][j - (i + 1)] *= 0.5;
    for (j = i + 3 <= newub_j ? newub_j + 1 : i + 3; j <= 2 * (i + 2) + m; j++)
      a[i + 2][j - (i + 2)] *= 0.5;
  }
  for (; i < n; i++)
    for (j = i + 1; j <= 2 * i + m; j++)
      a[i][j - i] *= 0.5;
  /*@ end @*/
}
