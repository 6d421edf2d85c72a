/* The kernels of the tests of drivers, for a GPU and for the fake driver. */
#ifndef __CUDACC__
#include "kernels.h"
#else
#define KERNEL(NAME)
#endif

extern "C" __global__ void axpy(int n, double a, const double *x, double *y)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = y[i] + a * x[i];
}
KERNEL(axpy)

/* Every type of parameter, small and large by turns, so that one in a wrong place spoils those behind it. */
extern "C" __global__ void every_type(signed char a, double b, bool c, long long d, short e, float f, unsigned char g,
                                      unsigned long long h, unsigned short i, int j, char k, unsigned l, double *told)
{
  if (blockIdx.x + threadIdx.x)
    return;
  told[0] = a;
  told[1] = b;
  told[2] = c;
  told[3] = (double)d;
  told[4] = e;
  told[5] = f;
  told[6] = g;
  told[7] = (double)h;
  told[8] = i;
  told[9] = j;
  told[10] = k;
  told[11] = l;
}
KERNEL(every_type)

struct Pair { char first; double second; };

extern "C" __global__ void structure(char before, Pair pair, float after, double *told)
{
  told[0] = before;
  told[1] = pair.first;
  told[2] = pair.second;
  told[3] = after;
}
KERNEL(structure)

/* Each thread tells where it is, in three dimensions of blocks and threads. */
extern "C" __global__ void places(int *told)
{
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int size = blockDim.x * blockDim.y * blockDim.z;
  told[block * size + thread] = 1000000 * (int)(blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z)
                                + (int)(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z);
}
KERNEL(places)

/* What order kernels ran in is seen from the result. */
extern "C" __global__ void push(int digit, long long *number)
{
  if (blockIdx.x + threadIdx.x == 0)
    *number = 10 * *number + digit;
}
KERNEL(push)

extern "C" __global__ void nothing()
{
}
KERNEL(nothing)

/* `where` is behind the memory: by a little in the fake driver, by far on a GPU. */
extern "C" __global__ void beyond(double *memory, long long where)
{
  memory[where] = 1.0;
}
KERNEL(beyond)
