#define N 64

static float grid[N][N], next[N][N];

void smooth(int steps);

void smooth(int steps) {
  /*@ begin Loop(
    transform DeviceData()
    for (int t = 0; t < steps; t++) {
      transform OpenCL(nd=2)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
          next[i][j] = 0.25f * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
      transform OpenCL(nd=2)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
          grid[i][j] = next[i][j];
    }
  ) @*/
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        next[i][j] = 0.25f * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        grid[i][j] = next[i][j];
  }
  /*@ end @*/
}
