/* Functions of device code that <math.h> does not have.  Those with less precision on a GPU have all of it here. */
#ifndef ORIO_CUDA_MATH_H
#define ORIO_CUDA_MATH_H

#define ORIO_CUDA_LEAST(R, A, B) \
  static inline R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; } \
  static inline R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
ORIO_CUDA_LEAST(int, int, int)
ORIO_CUDA_LEAST(unsigned, unsigned, unsigned)
ORIO_CUDA_LEAST(unsigned, int, unsigned)
ORIO_CUDA_LEAST(unsigned, unsigned, int)
ORIO_CUDA_LEAST(long, long, long)
ORIO_CUDA_LEAST(unsigned long, unsigned long, unsigned long)
ORIO_CUDA_LEAST(unsigned long, long, unsigned long)
ORIO_CUDA_LEAST(unsigned long, unsigned long, long)
ORIO_CUDA_LEAST(long long, long long, long long)
ORIO_CUDA_LEAST(unsigned long long, unsigned long long, unsigned long long)
ORIO_CUDA_LEAST(unsigned long long, long long, unsigned long long)
ORIO_CUDA_LEAST(unsigned long long, unsigned long long, long long)
#undef ORIO_CUDA_LEAST
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
static inline double min(float a, double b) { return __builtin_fmin(a, b); }
static inline double max(float a, double b) { return __builtin_fmax(a, b); }
static inline double min(double a, float b) { return __builtin_fmin(a, b); }
static inline double max(double a, float b) { return __builtin_fmax(a, b); }
static inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
static inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }

#define ORIO_CUDA_F1(name, expression) static inline float name(float x) { return expression; }
#define ORIO_CUDA_D1(name, expression) static inline double name(double x) { return expression; }
#define ORIO_CUDA_F2(name, expression) static inline float name(float x, float y) { return expression; }
#define ORIO_CUDA_D2(name, expression) static inline double name(double x, double y) { return expression; }
ORIO_CUDA_D1(rsqrt, 1.0 / __builtin_sqrt(x))
ORIO_CUDA_F1(rsqrtf, 1.0f / __builtin_sqrtf(x))
ORIO_CUDA_D1(rcbrt, 1.0 / __builtin_cbrt(x))
ORIO_CUDA_F1(rcbrtf, 1.0f / __builtin_cbrtf(x))
ORIO_CUDA_D1(sinpi, __builtin_sin(x * 3.14159265358979323846))
ORIO_CUDA_D1(cospi, __builtin_cos(x * 3.14159265358979323846))
ORIO_CUDA_F1(__saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
ORIO_CUDA_F1(__fsqrt_rn, __builtin_sqrtf(x))
ORIO_CUDA_F1(__frsqrt_rn, 1.0f / __builtin_sqrtf(x))
ORIO_CUDA_F1(__frcp_rn, 1.0f / x)
ORIO_CUDA_D1(__dsqrt_rn, __builtin_sqrt(x))
ORIO_CUDA_D1(__drcp_rn, 1.0 / x)
ORIO_CUDA_F2(__fdividef, x / y)
ORIO_CUDA_F2(fdividef, x / y)
ORIO_CUDA_F2(__fadd_rn, x + y)
ORIO_CUDA_F2(__fsub_rn, x - y)
ORIO_CUDA_F2(__fmul_rn, x * y)
ORIO_CUDA_F2(__fdiv_rn, x / y)
ORIO_CUDA_D2(__dadd_rn, x + y)
ORIO_CUDA_D2(__dsub_rn, x - y)
ORIO_CUDA_D2(__dmul_rn, x * y)
ORIO_CUDA_D2(__ddiv_rn, x / y)
static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
/* The C library declares functions with these names, which it does not have. */
#define __expf(x) __builtin_expf(x)
#define __exp10f(x) __builtin_powf(10.0f, x)
#define __logf(x) __builtin_logf(x)
#define __log2f(x) __builtin_log2f(x)
#define __log10f(x) __builtin_log10f(x)
#define __sinf(x) __builtin_sinf(x)
#define __cosf(x) __builtin_cosf(x)
#define __tanf(x) __builtin_tanf(x)
#define __powf(x, y) __builtin_powf(x, y)
#undef ORIO_CUDA_F1
#undef ORIO_CUDA_D1
#undef ORIO_CUDA_F2
#undef ORIO_CUDA_D2

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __mul24(int x, int y)
{
  return (int)((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8));
}
static inline int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }
static inline unsigned __brev(unsigned x)
{
  unsigned reversed = 0;
  for (int k = 0; k < 32; k++)
    reversed |= (x >> k & 1u) << (31 - k);
  return reversed;
}

#define ORIO_CUDA_AS(name, To, From) \
  static inline To name(From x) { To y; __builtin_memcpy(&y, &x, sizeof y); return y; }
ORIO_CUDA_AS(__float_as_int, int, float)
ORIO_CUDA_AS(__float_as_uint, unsigned, float)
ORIO_CUDA_AS(__int_as_float, float, int)
ORIO_CUDA_AS(__uint_as_float, float, unsigned)
ORIO_CUDA_AS(__double_as_longlong, long long, double)
ORIO_CUDA_AS(__longlong_as_double, double, long long)
#undef ORIO_CUDA_AS

#endif
