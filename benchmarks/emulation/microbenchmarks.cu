// Chains of instructions that wait for each other, and many that do not: latencies and gaps of units.
#define TIMES16(x) x x x x x x x x x x x x x x x x

#define CHAIN(name, type, init, step)                                     \
  extern "C" __global__ void name(int steps, type *out)                   \
  {                                                                       \
    type a = init;                                                        \
    for (int k = 0; k < steps; k++) {                                     \
      TIMES16(step)                                                       \
    }                                                                     \
    out[threadIdx.x] = a;                                                 \
  }

#define RATE(name, type, init, step)                                      \
  extern "C" __global__ void name(int steps, type *out)                   \
  {                                                                       \
    type r[8];                                                            \
    _Pragma("unroll") for (int e = 0; e < 8; e++) r[e] = init + e;        \
    for (int k = 0; k < steps; k++) {                                     \
      _Pragma("unroll") for (int q = 0; q < 4; q++)                       \
        _Pragma("unroll") for (int e = 0; e < 8; e++) {                   \
          type a = r[e];                                                  \
          step r[e] = a;                                                  \
        }                                                                 \
    }                                                                     \
    type s = 0;                                                           \
    _Pragma("unroll") for (int e = 0; e < 8; e++) s += r[e];              \
    out[threadIdx.x] = s;                                                 \
  }

CHAIN(chain_float, float, threadIdx.x, a = a * a + 1.5f;)
CHAIN(chain_double, double, threadIdx.x, a = a * a + 1.5;)
CHAIN(chain_imad, int, threadIdx.x, a = a * a + steps;)
CHAIN(chain_logic, unsigned, threadIdx.x, a = (a ^ k) + (a >> 3);)
CHAIN(chain_sfu, float, threadIdx.x, a = __frsqrt_rn(a);)
RATE(rate_float, float, threadIdx.x, a = a * a + 1.5f;)
RATE(rate_double, double, threadIdx.x, a = a * a + 1.5;)
RATE(rate_imad, int, threadIdx.x, a = a * a + steps;)
RATE(rate_logic, unsigned, threadIdx.x, a = (a ^ k) & (a | steps);)
RATE(rate_sfu, float, threadIdx.x, a = exp2f(a);)

extern "C" __global__ void chain_shared(int steps, int *out)
{
  __shared__ int next[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x)
    next[i] = (i + 32) % 1024;
  __syncthreads();
  int a = threadIdx.x;
  for (int k = 0; k < steps; k++) {
    TIMES16(a = next[a];)
  }
  out[threadIdx.x] = a;
}

extern "C" __global__ void rate_shared(int steps, int *out)
{
  __shared__ int table[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x)
    table[i] = i;
  __syncthreads();
  int s = 0, at = threadIdx.x % 32;
  for (int k = 0; k < steps; k++, at = (at + 32) % 1024) {
#pragma unroll
    for (int e = 0; e < 16; e++)
      s += table[at + 32 * e];
  }
  out[threadIdx.x] = s;
}

extern "C" __global__ void chase(int hops, const long long *ring, long long *out)
{
  long long a = 0;
  for (int k = 0; k < hops; k++)
    a = ring[a];
  out[0] = a;
}
