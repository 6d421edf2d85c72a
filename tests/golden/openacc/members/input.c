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
  for (int i = 0; i < g->n; i++)
    points[i].x = points[i].y * g->scale;
  for (int i = 0; i < g->n; i++)
    points[i].z = g->values[i] + points[i].x;
  /*@ end @*/
}
