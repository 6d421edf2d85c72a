#define N 64

static float grid[N][N], next[N][N];

void smooth(int steps);

void smooth(int steps) {
  for (int t = 0; t < steps; t++) {
    /*@ begin Loop(
      transform HIP(nd=2, threadCount=[16, 4])
    ) @*/
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        next[i][j] = 0.25f * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
    /*@ end @*/
  }
}
