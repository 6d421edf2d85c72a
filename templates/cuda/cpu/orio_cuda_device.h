/* What kernels call. */
#ifndef ORIO_CUDA_DEVICE_H
#define ORIO_CUDA_DEVICE_H

#if defined(ORIO_CUDA_CPU_IMPLEMENTATION)
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
#else
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
#endif
constexpr int warpSize = 32;

#define ORIO_CUDA_HERE int line = __builtin_LINE(), const char *file = __builtin_FILE()

/* The executor's side of barriers and warps. */
enum orio_cuda_meeting {
  ORIO_CUDA_BARRIER, ORIO_CUDA_COUNT, ORIO_CUDA_AND, ORIO_CUDA_OR,
  ORIO_CUDA_SYNCWARP, ORIO_CUDA_SHFL, ORIO_CUDA_SHFL_UP, ORIO_CUDA_SHFL_DOWN, ORIO_CUDA_SHFL_XOR,
  ORIO_CUDA_BALLOT, ORIO_CUDA_ANY, ORIO_CUDA_ALL, ORIO_CUDA_MATCH,
  ORIO_CUDA_REDUCE_ADD, ORIO_CUDA_REDUCE_MIN, ORIO_CUDA_REDUCE_MAX, ORIO_CUDA_REDUCE_UMIN, ORIO_CUDA_REDUCE_UMAX,
  ORIO_CUDA_REDUCE_AND, ORIO_CUDA_REDUCE_OR, ORIO_CUDA_REDUCE_XOR
};
int orio_cuda_block_meets(orio_cuda_meeting kind, int predicate, int line, const char *file);
unsigned long long orio_cuda_warp_meets(orio_cuda_meeting kind, unsigned mask, unsigned long long value, int operand,
                                        int width, int line, const char *file);
unsigned orio_cuda_lane();
void orio_cuda_fence();
void orio_cuda_atomic(const void *address, size_t bytes, const void *pc);
[[noreturn]] void orio_cuda_trap(int line, const char *file);
extern char orio_cuda_dynamic_shared[];

static inline void __syncthreads(ORIO_CUDA_HERE) { (void)orio_cuda_block_meets(ORIO_CUDA_BARRIER, 0, line, file); }
static inline int __syncthreads_count(int predicate, ORIO_CUDA_HERE)
{
  return orio_cuda_block_meets(ORIO_CUDA_COUNT, predicate, line, file);
}
static inline int __syncthreads_and(int predicate, ORIO_CUDA_HERE)
{
  return orio_cuda_block_meets(ORIO_CUDA_AND, predicate, line, file);
}
static inline int __syncthreads_or(int predicate, ORIO_CUDA_HERE)
{
  return orio_cuda_block_meets(ORIO_CUDA_OR, predicate, line, file);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, ORIO_CUDA_HERE)
{
  (void)orio_cuda_warp_meets(ORIO_CUDA_SYNCWARP, mask, 0, 0, warpSize, line, file);
}
static inline void __threadfence() { orio_cuda_fence(); }
static inline void __threadfence_block() {}
static inline void __threadfence_system() { orio_cuda_fence(); }
[[noreturn]] static inline void __trap(ORIO_CUDA_HERE) { orio_cuda_trap(line, file); }
static inline void __nanosleep(unsigned) {}

/* Fibres run alone: a thread is told that no other lane is with it, which is always a legal answer. */
static inline unsigned __activemask() { return 1u << orio_cuda_lane(); }
static inline unsigned __ballot_sync(unsigned mask, int predicate, ORIO_CUDA_HERE)
{
  return (unsigned)orio_cuda_warp_meets(ORIO_CUDA_BALLOT, mask, predicate != 0, 0, warpSize, line, file);
}
static inline int __any_sync(unsigned mask, int predicate, ORIO_CUDA_HERE)
{
  return (int)orio_cuda_warp_meets(ORIO_CUDA_ANY, mask, predicate != 0, 0, warpSize, line, file);
}
static inline int __all_sync(unsigned mask, int predicate, ORIO_CUDA_HERE)
{
  return (int)orio_cuda_warp_meets(ORIO_CUDA_ALL, mask, predicate != 0, 0, warpSize, line, file);
}

template <class T>
static inline T orio_cuda_exchange(orio_cuda_meeting kind, unsigned mask, T value, int operand, int width, int line,
                                   const char *file)
{
  static_assert(sizeof(T) <= 8, "warps exchange values of at most eight bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = orio_cuda_warp_meets(kind, mask, bits, operand, width, line, file);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

#define ORIO_CUDA_SHUFFLES(T) \
  static inline T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize, ORIO_CUDA_HERE) \
  { return orio_cuda_exchange(ORIO_CUDA_SHFL, mask, value, lane, width, line, file); } \
  static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, ORIO_CUDA_HERE) \
  { return orio_cuda_exchange(ORIO_CUDA_SHFL_UP, mask, value, (int)delta, width, line, file); } \
  static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize, ORIO_CUDA_HERE) \
  { return orio_cuda_exchange(ORIO_CUDA_SHFL_DOWN, mask, value, (int)delta, width, line, file); } \
  static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize, ORIO_CUDA_HERE) \
  { return orio_cuda_exchange(ORIO_CUDA_SHFL_XOR, mask, value, lanes, width, line, file); } \
  static inline unsigned __match_any_sync(unsigned mask, T value, ORIO_CUDA_HERE) \
  { return (unsigned)orio_cuda_exchange(ORIO_CUDA_MATCH, mask, orio_cuda_bits(value), 0, warpSize, line, file); }

template <class T> static inline unsigned long long orio_cuda_bits(T value)
{
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

ORIO_CUDA_SHUFFLES(int)
ORIO_CUDA_SHUFFLES(unsigned)
ORIO_CUDA_SHUFFLES(long)
ORIO_CUDA_SHUFFLES(unsigned long)
ORIO_CUDA_SHUFFLES(long long)
ORIO_CUDA_SHUFFLES(unsigned long long)
ORIO_CUDA_SHUFFLES(float)
ORIO_CUDA_SHUFFLES(double)
#undef ORIO_CUDA_SHUFFLES

#define ORIO_CUDA_REDUCE(name, T, kind) \
  static inline T name(unsigned mask, T value, ORIO_CUDA_HERE) \
  { return (T)orio_cuda_warp_meets(kind, mask, (unsigned long long)(long long)value, 0, warpSize, line, file); }
ORIO_CUDA_REDUCE(__reduce_add_sync, int, ORIO_CUDA_REDUCE_ADD)
ORIO_CUDA_REDUCE(__reduce_add_sync, unsigned, ORIO_CUDA_REDUCE_ADD)
ORIO_CUDA_REDUCE(__reduce_min_sync, int, ORIO_CUDA_REDUCE_MIN)
ORIO_CUDA_REDUCE(__reduce_max_sync, int, ORIO_CUDA_REDUCE_MAX)
ORIO_CUDA_REDUCE(__reduce_min_sync, unsigned, ORIO_CUDA_REDUCE_UMIN)
ORIO_CUDA_REDUCE(__reduce_max_sync, unsigned, ORIO_CUDA_REDUCE_UMAX)
ORIO_CUDA_REDUCE(__reduce_and_sync, unsigned, ORIO_CUDA_REDUCE_AND)
ORIO_CUDA_REDUCE(__reduce_or_sync, unsigned, ORIO_CUDA_REDUCE_OR)
ORIO_CUDA_REDUCE(__reduce_xor_sync, unsigned, ORIO_CUDA_REDUCE_XOR)
#undef ORIO_CUDA_REDUCE

/* Atomics.  Fibres change only where they meet, so that reading and writing is one step; checks are told. */
template <class T, class F>
ORIO_CUDA_PLAIN __attribute__((noinline)) static T orio_cuda_update(T *address, F change)
{
  orio_cuda_atomic(address, sizeof(T), __builtin_return_address(0));
  const T before = *address;
  *address = change(before);
  return before;
}

#define ORIO_CUDA_ATOMIC(name, T, result) \
  static __forceinline__ T name(T *address, T value) \
  { return orio_cuda_update(address, [value](T old) -> T { (void)old; return result; }); } \
  static __forceinline__ T name##_block(T *address, T value) { return name(address, value); } \
  static __forceinline__ T name##_system(T *address, T value) { return name(address, value); }
#define ORIO_CUDA_CAS(T) \
  static __forceinline__ T atomicCAS(T *address, T compare, T value) \
  { return orio_cuda_update(address, [compare, value](T old) -> T { return old == compare ? value : old; }); }

ORIO_CUDA_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
ORIO_CUDA_ATOMIC(atomicAdd, unsigned, old + value)
ORIO_CUDA_ATOMIC(atomicAdd, unsigned long long, old + value)
ORIO_CUDA_ATOMIC(atomicAdd, float, old + value)
ORIO_CUDA_ATOMIC(atomicAdd, double, old + value)
ORIO_CUDA_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
ORIO_CUDA_ATOMIC(atomicSub, unsigned, old - value)
ORIO_CUDA_ATOMIC(atomicExch, int, value)
ORIO_CUDA_ATOMIC(atomicExch, unsigned, value)
ORIO_CUDA_ATOMIC(atomicExch, unsigned long long, value)
ORIO_CUDA_ATOMIC(atomicExch, float, value)
#define ORIO_CUDA_INTEGERS(T) \
  ORIO_CUDA_ATOMIC(atomicMin, T, value < old ? value : old) \
  ORIO_CUDA_ATOMIC(atomicMax, T, value > old ? value : old) \
  ORIO_CUDA_ATOMIC(atomicAnd, T, old & value) \
  ORIO_CUDA_ATOMIC(atomicOr, T, old | value) \
  ORIO_CUDA_ATOMIC(atomicXor, T, old ^ value)
ORIO_CUDA_INTEGERS(int)
ORIO_CUDA_INTEGERS(unsigned)
ORIO_CUDA_INTEGERS(long long)
ORIO_CUDA_INTEGERS(unsigned long long)
ORIO_CUDA_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
ORIO_CUDA_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
ORIO_CUDA_CAS(int)
ORIO_CUDA_CAS(unsigned)
ORIO_CUDA_CAS(unsigned short)
ORIO_CUDA_CAS(unsigned long long)
#undef ORIO_CUDA_ATOMIC
#undef ORIO_CUDA_CAS
#undef ORIO_CUDA_INTEGERS

template <class T> static inline T __ldg(const T *address) { return *address; }
template <class T> static inline T __ldcs(const T *address) { return *address; }
template <class T> static inline T __ldcg(const T *address) { return *address; }

#include "orio_cuda_math.h"

#endif
