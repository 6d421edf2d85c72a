/* Values of neighbouring iterations, computed together. */
#define ORIO_EACH_LANE(k, count) _Pragma("unroll") for (int k = 0; k < (count); k++)

template <typename T, int N>
struct orio_vector {
  T v[N];
  orio_vector() = default;
  __device__ __forceinline__ explicit orio_vector(T value)
  {
    ORIO_EACH_LANE(k, N) v[k] = value;
  }
};

/* Signed integers as wide as a type: -1 for true, 0 for false. */
template <int BYTES> struct orio_integer;
template <> struct orio_integer<1> { typedef signed char type; };
template <> struct orio_integer<2> { typedef short type; };
template <> struct orio_integer<4> { typedef int type; };
template <> struct orio_integer<8> { typedef long type; };
template <typename T> using orio_mask = typename orio_integer<sizeof(T)>::type;

/* A type that is not deduced from an argument, so that scalars are converted to that of the lanes. */
template <typename T> struct orio_same { typedef T type; };

#define ORIO_LANES_OPERATOR(op, result_type)                                                                  \
  template <typename T, int N>                                                                                \
  __device__ __forceinline__ orio_vector<result_type, N> operator op(orio_vector<T, N> a, orio_vector<T, N> b) \
  {                                                                                                           \
    orio_vector<result_type, N> result;                                                                       \
    ORIO_EACH_LANE(k, N) result.v[k] = ORIO_LANE(a.v[k] op b.v[k]);                                           \
    return result;                                                                                            \
  }                                                                                                           \
  template <typename T, int N>                                                                                \
  __device__ __forceinline__ orio_vector<result_type, N> operator op(orio_vector<T, N> a,                     \
                                                                     typename orio_same<T>::type b)           \
  {                                                                                                           \
    return a op orio_vector<T, N>(b);                                                                         \
  }                                                                                                           \
  template <typename T, int N>                                                                                \
  __device__ __forceinline__ orio_vector<result_type, N> operator op(typename orio_same<T>::type a,           \
                                                                     orio_vector<T, N> b)                     \
  {                                                                                                           \
    return orio_vector<T, N>(a) op b;                                                                         \
  }

#define ORIO_LANE(value) (T)(value)
ORIO_LANES_OPERATOR(+, T)
ORIO_LANES_OPERATOR(-, T)
ORIO_LANES_OPERATOR(*, T)
ORIO_LANES_OPERATOR(/, T)
ORIO_LANES_OPERATOR(%, T)
ORIO_LANES_OPERATOR(&, T)
ORIO_LANES_OPERATOR(|, T)
ORIO_LANES_OPERATOR(^, T)
ORIO_LANES_OPERATOR(<<, T)
ORIO_LANES_OPERATOR(>>, T)
#undef ORIO_LANE
#define ORIO_LANE(value) ((value) ? -1 : 0)
ORIO_LANES_OPERATOR(<, orio_mask<T>)
ORIO_LANES_OPERATOR(<=, orio_mask<T>)
ORIO_LANES_OPERATOR(>, orio_mask<T>)
ORIO_LANES_OPERATOR(>=, orio_mask<T>)
ORIO_LANES_OPERATOR(==, orio_mask<T>)
ORIO_LANES_OPERATOR(!=, orio_mask<T>)
#undef ORIO_LANE
#undef ORIO_LANES_OPERATOR

template <typename T, int N>
__device__ __forceinline__ orio_vector<T, N> operator-(orio_vector<T, N> a)
{
  ORIO_EACH_LANE(k, N) a.v[k] = (T)-a.v[k];
  return a;
}

template <typename T, int N>
__device__ __forceinline__ orio_vector<T, N> operator~(orio_vector<T, N> a)
{
  ORIO_EACH_LANE(k, N) a.v[k] = (T)~a.v[k];
  return a;
}

/* `b` where the mask is set, else `a`. */
template <typename T, int N>
__device__ __forceinline__ orio_vector<T, N> orio_select(orio_vector<T, N> a, orio_vector<T, N> b,
                                                         orio_vector<orio_mask<T>, N> mask)
{
  ORIO_EACH_LANE(k, N) a.v[k] = mask.v[k] < 0 ? b.v[k] : a.v[k];
  return a;
}

template <typename T, typename... R>
__device__ __forceinline__ orio_vector<T, (int)sizeof...(R)> orio_values(R... values)
{
  const T list[] = {(T)values...};
  orio_vector<T, (int)sizeof...(R)> result;
  ORIO_EACH_LANE(k, (int)sizeof...(R)) result.v[k] = list[k];
  return result;
}

template <typename R, typename T, int N>
__device__ __forceinline__ orio_vector<R, N> orio_convert(orio_vector<T, N> a)
{
  orio_vector<R, N> result;
  ORIO_EACH_LANE(k, N) result.v[k] = (R)a.v[k];
  return result;
}

template <int UPPER, typename T, int N>
__device__ __forceinline__ orio_vector<T, N / 2> orio_half(orio_vector<T, N> a)
{
  orio_vector<T, N / 2> result;
  ORIO_EACH_LANE(k, N / 2) result.v[k] = a.v[k + UPPER * (N / 2)];
  return result;
}

#define ORIO_LANES_CHOICE(name, sign)                                                                        \
  template <typename T, int N>                                                                               \
  __device__ __forceinline__ orio_vector<T, N> name(orio_vector<T, N> a, orio_vector<T, N> b)                \
  {                                                                                                          \
    ORIO_EACH_LANE(k, N) a.v[k] = b.v[k] sign a.v[k] || a.v[k] != a.v[k] ? b.v[k] : a.v[k];                  \
    return a;                                                                                                \
  }
ORIO_LANES_CHOICE(min, <)
ORIO_LANES_CHOICE(fmin, <)
ORIO_LANES_CHOICE(max, >)
ORIO_LANES_CHOICE(fmax, >)
#undef ORIO_LANES_CHOICE

/* As many elements as one instruction moves, 16 bytes at most; `N` is a power of 2. */
template <typename T, int N>
struct orio_pack {
  static const int WIDTH = N * (int)sizeof(T) <= 16 ? N : 16 / (int)sizeof(T);
  struct alignas(WIDTH * sizeof(T)) type { T v[WIDTH]; };
};

template <int N, typename T>
__device__ __forceinline__ orio_vector<T, N> orio_load(const T *from)
{
  typedef typename orio_pack<T, N>::type pack;
  const int width = orio_pack<T, N>::WIDTH;
  orio_vector<T, N> result;
  if ((unsigned long)from % sizeof(pack) == 0) {
    ORIO_EACH_LANE(p, N / width) {
      const pack part = ((const pack *)from)[p];
      ORIO_EACH_LANE(k, width) result.v[p * width + k] = part.v[k];
    }
  } else {
    ORIO_EACH_LANE(k, N) result.v[k] = from[k];
  }
  return result;
}

template <typename T, int N>
__device__ __forceinline__ void orio_store(orio_vector<T, N> value, T *to)
{
  typedef typename orio_pack<T, N>::type pack;
  const int width = orio_pack<T, N>::WIDTH;
  if ((unsigned long)to % sizeof(pack) == 0) {
    ORIO_EACH_LANE(p, N / width) {
      pack part;
      ORIO_EACH_LANE(k, width) part.v[k] = value.v[p * width + k];
      ((pack *)to)[p] = part;
    }
  } else {
    ORIO_EACH_LANE(k, N) to[k] = value.v[k];
  }
}

template <int N>
__device__ __forceinline__ orio_vector<double, N> orio_lanes_sqrt(orio_vector<double, N> a)
{
  orio_vector<double, N> result;
  ORIO_EACH_LANE(k, N) result.v[k] = sqrt(a.v[k]);
  return result;
}

extern "C" __global__ void __launch_bounds__(128) orio_cuda_k_0(const double *__restrict__ x,
    double *__restrict__ y, const double alpha, const unsigned int orio_trips_i)
{
  const unsigned int orio_i = (blockIdx.x * 128 + threadIdx.x) * 4;
  if (orio_i < orio_trips_i) {
    if (orio_i + 4 <= orio_trips_i) {
      const int i = (int)orio_i;
      orio_store(orio_lanes_sqrt(orio_load<4>(&x[i])) * alpha, &y[i]);
    } else {
      for (unsigned int orio_rest_i = orio_i; orio_rest_i < orio_trips_i; orio_rest_i++) {
        const int i = (int)orio_rest_i;
        y[i] = sqrt(x[i]) * alpha;
      }
    }
  }
}

