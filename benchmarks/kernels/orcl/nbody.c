/* Accelerations of n bodies that attract each other, softened so that none is infinite: arrays of structures. */
#include <math.h>

struct body {
  float x, y, z, mass;
};

typedef struct {
  float x, y, z;
} vector;

void accelerations(int n, float softening, const struct body *restrict b, vector *restrict a)
{
  int i, j;

  /*@ begin PerfTuning(
    def performance_counter {
      arg repetitions = 5;
      arg time = 'kernel';
    }

    def performance_params {
      # 'aos': the device holds both arrays as C does; 'soa': member by member, which vectors need
      param LAYOUT[] = ['aos', 'soa'];
      param WI[] = [32, 64, 128, 256];
      param VW[] = [1, 4, 8, 16];
      param CF[] = ['', '-cl-fast-relaxed-math'];

      constraint neighbours = VW == 1 or LAYOUT == 'soa';
    }

    def input_params {
      param n[] = [4096];
    }

    def input_vars {
      decl dynamic struct body b[n] = random;
      decl dynamic vector a[n] = 0;
      decl float softening = 0.01;
    }

    def search {
      arg algorithm = 'Randomsearch';
      arg total_runs = 20;
    }
  ) @*/
  /*@ begin Loop(transform OpenCL(layout=LAYOUT, workItemsPerGroup=WI, vectorWidth=VW, clFlags=CF)) @*/
  for (i = 0; i < n; i++) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (j = 0; j < n; j++) {
      const float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
      const float d = dx * dx + dy * dy + dz * dz + softening;
      const float pull = b[j].mass / (d * sqrtf(d));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    a[i].x = ax;
    a[i].y = ay;
    a[i].z = az;
  }
  /*@ end @*/
  /*@ end @*/
}
