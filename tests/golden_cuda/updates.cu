/* Updates that the hardware does not do in one step: computed, and stored where nothing else has been meanwhile. */
template <int bytes> struct orio_word { typedef unsigned int type; };
template <> struct orio_word<8> { typedef unsigned long long type; };
struct orio_greatest { template <class T, class V> static __device__ T of(T old, V value) { return value > old ? (T)value : old; } };

template <class Change, class T, class V> __device__ void orio_atomic(T *address, const V value)
{
  typedef typename orio_word<sizeof(T)>::type Word;
  union { Word word; T value; } before, after;
  Word found = atomicCAS((Word *)address, 0, 0);
  do {
    before.word = found;
    after.value = Change::of(before.value, value);
    found = atomicCAS((Word *)address, before.word, after.word);
  } while (found != before.word);
}

extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const int *__restrict__ c,
    long *__restrict__ counts, const double *__restrict__ x, double *__restrict__ p,
    const float *__restrict__ f, float *__restrict__ top, const unsigned int orio_trips_i)
{
  const unsigned int orio_i = blockIdx.x * 128 + threadIdx.x;
  if (orio_i < orio_trips_i) {
    const int i = (int)orio_i;
    atomicAdd((unsigned long long *) &counts[c[i]], (unsigned long long)(long)1);
    atomicAdd(&p[c[i] * 64], -x[i]);
    orio_atomic<orio_greatest>(&top[c[i]], f[i]);
  }
}

