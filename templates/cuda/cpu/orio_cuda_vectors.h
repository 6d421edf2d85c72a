/* Vector types with CUDA's alignments (CUDA C++ Programming Guide, table "Alignment Requirements"). */
#ifndef ORIO_CUDA_VECTORS_H
#define ORIO_CUDA_VECTORS_H

#if !defined(__global__)
#define __device__ __attribute__((unused))
#define __host__
#define __global__ __attribute__((unused))
#define __constant__ __attribute__((unused))
#define __managed__ __attribute__((unused))
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#endif

/* Neither counted nor checked: what the executor itself does on behalf of a kernel. */
#define ORIO_CUDA_PLAIN __attribute__((no_sanitize("thread")))

#define ORIO_CUDA_VECTOR(T, name, a1, a2, a4) \
  struct name##1 { T x; }; \
  struct alignas(a2) name##2 { T x, y; }; \
  struct name##3 { T x, y, z; }; \
  struct alignas(a4) name##4 { T x, y, z, w; }; \
  static inline __attribute__((unused)) name##1 make_##name##1(T x) { return {x}; } \
  static inline __attribute__((unused)) name##2 make_##name##2(T x, T y) { return {x, y}; } \
  static inline __attribute__((unused)) name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline __attribute__((unused)) name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

ORIO_CUDA_VECTOR(signed char, char, 1, 2, 4)
ORIO_CUDA_VECTOR(unsigned char, uchar, 1, 2, 4)
ORIO_CUDA_VECTOR(short, short, 2, 4, 8)
ORIO_CUDA_VECTOR(unsigned short, ushort, 2, 4, 8)
ORIO_CUDA_VECTOR(int, int, 4, 8, 16)
ORIO_CUDA_VECTOR(unsigned, uint, 4, 8, 16)
ORIO_CUDA_VECTOR(long, long, 8, 16, 16)
ORIO_CUDA_VECTOR(unsigned long, ulong, 8, 16, 16)
ORIO_CUDA_VECTOR(long long, longlong, 8, 16, 16)
ORIO_CUDA_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
ORIO_CUDA_VECTOR(float, float, 4, 8, 16)
ORIO_CUDA_VECTOR(double, double, 8, 16, 16)
#undef ORIO_CUDA_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned first = 1, unsigned second = 1, unsigned third = 1) : x(first), y(second), z(third) {}
  constexpr dim3(uint3 given) : x(given.x), y(given.y), z(given.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#endif
