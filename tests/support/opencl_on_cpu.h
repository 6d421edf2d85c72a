/* OpenCL C as the tests' kernels use it, for a C++ compiler and the executor of CUDA kernels on the processor.

   A second opinion on results of an OpenCL driver: the same kernel text, another compiler. */
#ifndef OPENCL_ON_CPU_H
#define OPENCL_ON_CPU_H

#include <float.h>
#include <limits.h>
#include <type_traits>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __global
#define __constant const
#define __local __shared__
#define restrict __restrict
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(flags) __syncthreads()

static inline size_t cl_of(uint3 v, uint d) { return d == 0 ? v.x : d == 1 ? v.y : v.z; }
#define get_local_id(d) cl_of(threadIdx, d)
#define get_group_id(d) cl_of(blockIdx, d)
#define get_local_size(d) cl_of(uint3(blockDim), d)
#define get_num_groups(d) cl_of(uint3(gridDim), d)
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))

template <class T> struct cl_plain { typedef T type; };
template <class T> using cl_same = typename cl_plain<T>::type;
template <class T> using cl_mask = std::conditional_t<
    sizeof(T) == 1, signed char,
    std::conditional_t<sizeof(T) == 2, short, std::conditional_t<sizeof(T) == 4, int, long>>>;

template <class T, int N> struct cl_lanes;
template <class T, int N> struct cl_vec;
template <class T> struct cl_lanes<T, 2> {
  union { T e[2]; struct { T s0, s1; }; struct { T lo, hi; }; struct { T x, y; }; };
};
template <class T> struct cl_lanes<T, 4> {
  union { T e[4]; struct { T s0, s1, s2, s3; }; struct { cl_vec<T, 2> lo, hi; }; struct { T x, y, z, w; }; };
};
template <class T> struct cl_lanes<T, 8> {
  union { T e[8]; struct { T s0, s1, s2, s3, s4, s5, s6, s7; }; struct { cl_vec<T, 4> lo, hi; }; };
};
template <class T> struct cl_lanes<T, 16> {
  union {
    T e[16];
    struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };
    struct { cl_vec<T, 8> lo, hi; };
  };
};

#define CL_OPERATOR(op) \
  friend cl_vec operator op(cl_vec a, cl_vec b) { for (int k = 0; k < N; k++) a.e[k] = (T)(a.e[k] op b.e[k]); return a; } \
  cl_vec &operator op##=(cl_vec b) { return *this = *this op b; }
#define CL_INTEGER(op) \
  template <class U, std::enable_if_t<std::is_integral_v<U>, int> = 0> \
  friend cl_vec operator op(cl_vec a, cl_vec<U, N> b) { for (int k = 0; k < N; k++) a.e[k] = (T)(a.e[k] op b.e[k]); return a; } \
  friend cl_vec operator op(cl_vec a, T b) { for (int k = 0; k < N; k++) a.e[k] = (T)(a.e[k] op b); return a; } \
  template <class U> cl_vec &operator op##=(U b) { return *this = *this op b; }
#define CL_COMPARISON(op) \
  friend cl_vec<cl_mask<T>, N> operator op(cl_vec a, cl_vec b) \
  { cl_vec<cl_mask<T>, N> r; for (int k = 0; k < N; k++) r.e[k] = a.e[k] op b.e[k] ? -1 : 0; return r; }

template <class T, int N> struct cl_vec : cl_lanes<T, N> {
  using cl_lanes<T, N>::e;
  cl_vec() = default;
  cl_vec(T value) { for (int k = 0; k < N; k++) e[k] = value; }
  template <class... A, std::enable_if_t<sizeof...(A) == N && (N > 1), int> = 0>
  cl_vec(A... values) { const T all[] = {(T)values...}; for (int k = 0; k < N; k++) e[k] = all[k]; }
  CL_OPERATOR(+) CL_OPERATOR(-) CL_OPERATOR(*) CL_OPERATOR(/)
  CL_INTEGER(%) CL_INTEGER(&) CL_INTEGER(|) CL_INTEGER(^) CL_INTEGER(<<) CL_INTEGER(>>)
  CL_COMPARISON(<) CL_COMPARISON(>) CL_COMPARISON(<=) CL_COMPARISON(>=) CL_COMPARISON(==) CL_COMPARISON(!=)
  CL_COMPARISON(&&) CL_COMPARISON(||)
  cl_vec operator-() const { cl_vec r; for (int k = 0; k < N; k++) r.e[k] = (T)-e[k]; return r; }
  cl_vec operator+() const { return *this; }
  cl_vec operator~() const { cl_vec r; for (int k = 0; k < N; k++) r.e[k] = (T)~e[k]; return r; }
  cl_vec<cl_mask<T>, N> operator!() const { return *this == cl_vec((T)0); }
  cl_vec &operator++() { return *this += cl_vec((T)1); }
  cl_vec &operator--() { return *this -= cl_vec((T)1); }
  cl_vec operator++(int) { cl_vec r = *this; ++*this; return r; }
  cl_vec operator--(int) { cl_vec r = *this; --*this; return r; }
};

template <class T, int N, class M> cl_vec<T, N> select(cl_vec<T, N> a, cl_same<cl_vec<T, N>> b, cl_vec<M, N> c)
{
  for (int k = 0; k < N; k++)
    if (c.e[k] >> (8 * sizeof(M) - 1) & 1)
      a.e[k] = b.e[k];
  return a;
}
template <class T, class M, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> T select(T a, cl_same<T> b, M c) { return c ? b : a; }

template <class T, int N, class U> cl_vec<T, N> cl_convert(cl_vec<U, N> a)
{
  cl_vec<T, N> r;
  for (int k = 0; k < N; k++)
    r.e[k] = (T)a.e[k];
  return r;
}
template <class T, int N, class U, std::enable_if_t<std::is_arithmetic_v<U> && N == 1, int> = 0> T cl_convert(U a) { return (T)a; }
template <class T, int N, class U, std::enable_if_t<std::is_arithmetic_v<U> && (N > 1), int> = 0> cl_vec<T, N> cl_convert(U a) { return (T)a; }

#define CL_MEMORY(N) \
  template <class T> cl_vec<std::remove_const_t<T>, N> vload##N(size_t at, T *from) \
  { cl_vec<std::remove_const_t<T>, N> r; for (int k = 0; k < N; k++) r.e[k] = from[at * N + k]; return r; } \
  template <class T> void vstore##N(cl_vec<T, N> v, size_t at, T *to) { for (int k = 0; k < N; k++) to[at * N + k] = v.e[k]; } \
  template <class T> void vstore##N(cl_same<T> v, size_t at, T *to) { for (int k = 0; k < N; k++) to[at * N + k] = v; }
CL_MEMORY(2) CL_MEMORY(4) CL_MEMORY(8) CL_MEMORY(16)

#define CL_UNARY(name) \
  template <class T, int N> cl_vec<T, N> name(cl_vec<T, N> a) { for (int k = 0; k < N; k++) a.e[k] = (T)name(a.e[k]); return a; }
#define CL_BINARY(name) \
  template <class T, int N> cl_vec<T, N> name(cl_vec<T, N> a, cl_same<cl_vec<T, N>> b) \
  { for (int k = 0; k < N; k++) a.e[k] = (T)name(a.e[k], b.e[k]); return a; }
#define CL_TEST(name) \
  template <class T, int N> cl_vec<cl_mask<T>, N> name(cl_vec<T, N> a) \
  { cl_vec<cl_mask<T>, N> r; for (int k = 0; k < N; k++) r.e[k] = name(a.e[k]) ? -1 : 0; return r; }
CL_UNARY(sin) CL_UNARY(cos) CL_UNARY(tan) CL_UNARY(asin) CL_UNARY(acos) CL_UNARY(atan) CL_UNARY(sinh) CL_UNARY(cosh)
CL_UNARY(tanh) CL_UNARY(asinh) CL_UNARY(acosh) CL_UNARY(atanh) CL_UNARY(exp) CL_UNARY(exp2) CL_UNARY(expm1)
CL_UNARY(log) CL_UNARY(log2) CL_UNARY(log10) CL_UNARY(log1p) CL_UNARY(logb) CL_UNARY(sqrt) CL_UNARY(cbrt)
CL_UNARY(fabs) CL_UNARY(floor) CL_UNARY(ceil) CL_UNARY(trunc) CL_UNARY(round) CL_UNARY(rint) CL_UNARY(erf)
CL_UNARY(erfc) CL_UNARY(tgamma) CL_UNARY(lgamma) CL_UNARY(abs)
CL_BINARY(atan2) CL_BINARY(hypot) CL_BINARY(pow) CL_BINARY(fmax) CL_BINARY(fmin) CL_BINARY(fdim) CL_BINARY(fmod)
CL_BINARY(remainder) CL_BINARY(copysign) CL_BINARY(nextafter) CL_BINARY(min) CL_BINARY(max)
CL_TEST(isnan) CL_TEST(isinf) CL_TEST(isfinite) CL_TEST(isnormal) CL_TEST(signbit)
template <class T, int N> cl_vec<T, N> fma(cl_vec<T, N> a, cl_same<cl_vec<T, N>> b, cl_same<cl_vec<T, N>> c)
{
  for (int k = 0; k < N; k++)
    a.e[k] = fma(a.e[k], b.e[k], c.e[k]);
  return a;
}

/* Atomic functions; items change only where they meet. */
#define cl_khr_int64_base_atomics
#define CL_ATOMIC(prefix, name, T, result) \
  static inline T prefix##_##name(volatile T *at, T value) \
  { return orio_cuda_update((T *)at, [value](T old) -> T { return result; }); }
#define CL_ATOMICS(prefix, T, U) \
  CL_ATOMIC(prefix, add, T, (T)((U)old + (U)value)) CL_ATOMIC(prefix, sub, T, (T)((U)old - (U)value)) \
  CL_ATOMIC(prefix, and, T, old & value) CL_ATOMIC(prefix, or, T, old | value) CL_ATOMIC(prefix, xor, T, old ^ value) \
  CL_ATOMIC(prefix, min, T, value < old ? value : old) CL_ATOMIC(prefix, max, T, value > old ? value : old)
CL_ATOMICS(atomic, int, uint) CL_ATOMICS(atomic, uint, uint) CL_ATOMICS(atom, long, ulong) CL_ATOMICS(atom, ulong, ulong)
static inline uint atomic_cmpxchg(volatile uint *at, uint old, uint value) { return atomicCAS((uint *)at, old, value); }
static inline ulong atom_cmpxchg(volatile ulong *at, ulong old, ulong value)
{
  return orio_cuda_update((ulong *)at, [=](ulong found) -> ulong { return found == old ? value : found; });
}

/* The names are CUDA's too, with other members. */
#define char2 cl_vec<signed char, 2>
#define convert_char2 cl_convert<signed char, 2>
#define char4 cl_vec<signed char, 4>
#define convert_char4 cl_convert<signed char, 4>
#define char8 cl_vec<signed char, 8>
#define convert_char8 cl_convert<signed char, 8>
#define char16 cl_vec<signed char, 16>
#define convert_char16 cl_convert<signed char, 16>
#define convert_char cl_convert<signed char, 1>
#define uchar2 cl_vec<uchar, 2>
#define convert_uchar2 cl_convert<uchar, 2>
#define uchar4 cl_vec<uchar, 4>
#define convert_uchar4 cl_convert<uchar, 4>
#define uchar8 cl_vec<uchar, 8>
#define convert_uchar8 cl_convert<uchar, 8>
#define uchar16 cl_vec<uchar, 16>
#define convert_uchar16 cl_convert<uchar, 16>
#define convert_uchar cl_convert<uchar, 1>
#define short2 cl_vec<short, 2>
#define convert_short2 cl_convert<short, 2>
#define short4 cl_vec<short, 4>
#define convert_short4 cl_convert<short, 4>
#define short8 cl_vec<short, 8>
#define convert_short8 cl_convert<short, 8>
#define short16 cl_vec<short, 16>
#define convert_short16 cl_convert<short, 16>
#define convert_short cl_convert<short, 1>
#define ushort2 cl_vec<ushort, 2>
#define convert_ushort2 cl_convert<ushort, 2>
#define ushort4 cl_vec<ushort, 4>
#define convert_ushort4 cl_convert<ushort, 4>
#define ushort8 cl_vec<ushort, 8>
#define convert_ushort8 cl_convert<ushort, 8>
#define ushort16 cl_vec<ushort, 16>
#define convert_ushort16 cl_convert<ushort, 16>
#define convert_ushort cl_convert<ushort, 1>
#define int2 cl_vec<int, 2>
#define convert_int2 cl_convert<int, 2>
#define int4 cl_vec<int, 4>
#define convert_int4 cl_convert<int, 4>
#define int8 cl_vec<int, 8>
#define convert_int8 cl_convert<int, 8>
#define int16 cl_vec<int, 16>
#define convert_int16 cl_convert<int, 16>
#define convert_int cl_convert<int, 1>
#define uint2 cl_vec<uint, 2>
#define convert_uint2 cl_convert<uint, 2>
#define uint4 cl_vec<uint, 4>
#define convert_uint4 cl_convert<uint, 4>
#define uint8 cl_vec<uint, 8>
#define convert_uint8 cl_convert<uint, 8>
#define uint16 cl_vec<uint, 16>
#define convert_uint16 cl_convert<uint, 16>
#define convert_uint cl_convert<uint, 1>
#define long2 cl_vec<long, 2>
#define convert_long2 cl_convert<long, 2>
#define long4 cl_vec<long, 4>
#define convert_long4 cl_convert<long, 4>
#define long8 cl_vec<long, 8>
#define convert_long8 cl_convert<long, 8>
#define long16 cl_vec<long, 16>
#define convert_long16 cl_convert<long, 16>
#define convert_long cl_convert<long, 1>
#define ulong2 cl_vec<ulong, 2>
#define convert_ulong2 cl_convert<ulong, 2>
#define ulong4 cl_vec<ulong, 4>
#define convert_ulong4 cl_convert<ulong, 4>
#define ulong8 cl_vec<ulong, 8>
#define convert_ulong8 cl_convert<ulong, 8>
#define ulong16 cl_vec<ulong, 16>
#define convert_ulong16 cl_convert<ulong, 16>
#define convert_ulong cl_convert<ulong, 1>
#define float2 cl_vec<float, 2>
#define convert_float2 cl_convert<float, 2>
#define float4 cl_vec<float, 4>
#define convert_float4 cl_convert<float, 4>
#define float8 cl_vec<float, 8>
#define convert_float8 cl_convert<float, 8>
#define float16 cl_vec<float, 16>
#define convert_float16 cl_convert<float, 16>
#define convert_float cl_convert<float, 1>
#define double2 cl_vec<double, 2>
#define convert_double2 cl_convert<double, 2>
#define double4 cl_vec<double, 4>
#define convert_double4 cl_convert<double, 4>
#define double8 cl_vec<double, 8>
#define convert_double8 cl_convert<double, 8>
#define double16 cl_vec<double, 16>
#define convert_double16 cl_convert<double, 16>
#define convert_double cl_convert<double, 1>

#endif
