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
  if (steps > 0) {
    void orio_opencl_smooth_0_data_begin(void *orio_piece_0_0, long orio_bytes_0_0, void *orio_piece_1_0, long orio_bytes_1_0);
    orio_opencl_smooth_0_data_begin(&grid[0][0], (long)N * N * (long) sizeof(grid[0][0]), &next[0][0], (long)N * N * (long) sizeof(next[0][0]));
  }
  for (int t = 0; t < steps; t++) {
    {
      void orio_opencl_smooth_0(const float *grid, float *next, long orio_count_grid, long orio_count_next, int orio_N, long orio_trips_i, long orio_trips_j);
      orio_opencl_smooth_0(&grid[0][0], &next[0][0], (long)N * N, (long)N * N, N, N - 2, N - 2);
    }
    {
      void orio_opencl_smooth_1(const float *next, float *grid, long orio_count_next, long orio_count_grid, int orio_N, long orio_trips_i, long orio_trips_j);
      orio_opencl_smooth_1(&next[0][0], &grid[0][0], (long)N * N, (long)N * N, N, N - 2, N - 2);
    }
  }
  {
    void orio_opencl_smooth_0_data_end(void);
    orio_opencl_smooth_0_data_end();
  }
  /*@ end @*/
}
