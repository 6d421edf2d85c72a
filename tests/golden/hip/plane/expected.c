#define N 64

static float grid[N][N], next[N][N];

void smooth(int steps);

void smooth(int steps) {
  for (int t = 0; t < steps; t++) {
    /*@ begin Loop(
      transform HIP(nd=2, threadCount=[16, 4])
    ) @*/
    {
      void orio_hip_smooth_0(const float *grid, float *next, long orio_count_grid, long orio_count_next, int orio_N, long orio_trips_i, long orio_trips_j);
      orio_hip_smooth_0(&grid[0][0], &next[0][0], (long)N * N, (long)N * N, N, N - 2, N - 2);
    }
    /*@ end @*/
  }
}
