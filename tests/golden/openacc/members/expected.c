struct grid {
  int n;
  double scale;
  double *restrict values;
};

struct point {
  double x, y, z;
};

void stretch(const struct grid *restrict g, struct point *restrict points);

void stretch(const struct grid *restrict g, struct point *restrict points) {
  /*@ begin Loop(
    transform OpenACC(vectorLength=LANES)
  ) @*/
  {
    const int g_n = g->n;
    const double g_scale = g->scale;
    if (g_n > 0) {
      #if defined(_OPENACC)
      #pragma acc parallel loop gang vector vector_length(32) copy(points[0:g_n])
      #endif
      for (int i = 0; i < g_n; i++)
        points[i].x = points[i].y * g_scale;
    }
  }
  {
    const int g_n = g->n;
    const double *g_values = g->values;
    if (g_n > 0) {
      #if defined(_OPENACC)
      #pragma acc parallel loop gang vector vector_length(32) copyin(g_values[0:g_n]) copy(points[0:g_n])
      #endif
      for (int i = 0; i < g_n; i++)
        points[i].z = g_values[i] + points[i].x;
    }
  }
  /*@ end @*/
}
