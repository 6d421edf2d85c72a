struct orio_cell { signed char kind; double x; double v[3]; unsigned short new_; };
static_assert(sizeof(struct orio_cell) == 48, "orio_cell has another layout here");

extern "C" __global__ void __launch_bounds__(32) orio_cuda_k_0(struct orio_cell *__restrict__ cells,
    const int *__restrict__ c, const double alpha, const unsigned int orio_trips_i)
{
  const unsigned int orio_i = blockIdx.x * 32 + threadIdx.x;
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    int j;
    cells[i].x += alpha * sqrt(cells[i].v[1]);
    cells[i].new_ = cells[i].kind + c[i];
    for (j = 0; j < 3; j++)
      cells[i].v[j] = cells[i].x / 2;
  }
}

