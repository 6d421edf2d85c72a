/* What host code calls: the part of the CUDA runtime that generated code uses. */
#ifndef ORIO_CUDA_HOST_H
#define ORIO_CUDA_HOST_H

#define CUDART_VERSION 12000

/* Numbers of CUDA 12 (CUDA Runtime API, "Data types used by CUDA Runtime"). */
#define ORIO_CUDA_ERRORS(X) \
  X(cudaSuccess, 0, "no error") \
  X(cudaErrorInvalidValue, 1, "invalid argument") \
  X(cudaErrorMemoryAllocation, 2, "out of memory") \
  X(cudaErrorInitializationError, 3, "initialization error") \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol") \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function") \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
  X(cudaErrorNotReady, 600, "device not ready") \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  X(cudaErrorAssert, 710, "device-side assert triggered") \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered") \
  X(cudaErrorMisalignedAddress, 716, "misaligned address") \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
  X(cudaErrorNotSupported, 801, "operation not supported") \
  X(cudaErrorUnknown, 999, "unknown error")
enum cudaError {
#define X(name, number, text) name = number,
  ORIO_CUDA_ERRORS(X)
#undef X
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaFuncCache {
  cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4, cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

enum {
  cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
  cudaHostRegisterReadOnly = 8,
  cudaStreamDefault = 0, cudaStreamNonBlocking = 1,
  cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor, multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, ECCEnabled,
      asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize,
      maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, regsPerMultiprocessor;
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
};

typedef struct orio_cuda_stream *cudaStream_t;
typedef struct orio_cuda_event *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *);
#define cudaStreamLegacy ((cudaStream_t)0x1)

#define ORIO_CUDA_API extern "C" __attribute__((visibility("default")))
ORIO_CUDA_API cudaError_t cudaMalloc(void **pointer, size_t bytes);
ORIO_CUDA_API cudaError_t cudaFree(void *pointer);
ORIO_CUDA_API cudaError_t cudaMallocHost(void **pointer, size_t bytes);
ORIO_CUDA_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
ORIO_CUDA_API cudaError_t cudaFreeHost(void *pointer);
ORIO_CUDA_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
ORIO_CUDA_API cudaError_t cudaHostUnregister(void *pointer);
ORIO_CUDA_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
ORIO_CUDA_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                          cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind);
ORIO_CUDA_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaMemset(void *to, int value, size_t bytes);
ORIO_CUDA_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
ORIO_CUDA_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                            cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
ORIO_CUDA_API cudaError_t cudaStreamCreate(cudaStream_t *stream);
ORIO_CUDA_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
ORIO_CUDA_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
ORIO_CUDA_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaStreamQuery(cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
ORIO_CUDA_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
ORIO_CUDA_API cudaError_t cudaEventCreate(cudaEvent_t *event);
ORIO_CUDA_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
ORIO_CUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event);
ORIO_CUDA_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
ORIO_CUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
ORIO_CUDA_API cudaError_t cudaEventQuery(cudaEvent_t event);
/* Always 0: there is no GPU whose time it could be. */
ORIO_CUDA_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
ORIO_CUDA_API cudaError_t cudaDeviceSynchronize();
ORIO_CUDA_API cudaError_t cudaDeviceReset();
ORIO_CUDA_API cudaError_t cudaGetDeviceCount(int *count);
ORIO_CUDA_API cudaError_t cudaGetDevice(int *device);
ORIO_CUDA_API cudaError_t cudaSetDevice(int device);
ORIO_CUDA_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
ORIO_CUDA_API cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
ORIO_CUDA_API cudaError_t cudaDriverGetVersion(int *version);
ORIO_CUDA_API cudaError_t cudaRuntimeGetVersion(int *version);
ORIO_CUDA_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
ORIO_CUDA_API cudaError_t cudaGetLastError();
ORIO_CUDA_API cudaError_t cudaPeekAtLastError();
ORIO_CUDA_API const char *cudaGetErrorString(cudaError_t error);
ORIO_CUDA_API const char *cudaGetErrorName(cudaError_t error);

/* What the executor is asked beside: options as in the variable ORIO_CUDA_CPU ("order=random seed=7"), the number of
   problems found since the last `clear`, their text, the calls made, and the objects not given back. */
ORIO_CUDA_API int orio_cuda_cpu_options(const char *options);
ORIO_CUDA_API long orio_cuda_cpu_problems();
ORIO_CUDA_API const char *orio_cuda_cpu_report();
ORIO_CUDA_API void orio_cuda_cpu_clear();
ORIO_CUDA_API long orio_cuda_cpu_calls();
ORIO_CUDA_API long orio_cuda_cpu_alive();

/* One parameter of a kernel: its size, and whether it is a pointer ('p', or 'c' to what is not changed), signed 'i',
   unsigned 'u', floating 'f' or something else 'x'. */
struct orio_cuda_parameter {
  size_t bytes;
  char kind;
};
typedef void (*orio_cuda_function)();
typedef void (*orio_cuda_invoker)(orio_cuda_function kernel, void **arguments);
cudaError_t orio_cuda_launch(const char *name, orio_cuda_function kernel, orio_cuda_invoker invoke,
                             const orio_cuda_parameter *parameters, size_t count, dim3 grid, dim3 block,
                             void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t orio_cuda_set_attribute(orio_cuda_function kernel, cudaFuncAttribute attribute, int value);
cudaError_t orio_cuda_get_attributes(cudaFuncAttributes *attributes, orio_cuda_function kernel);
cudaError_t orio_cuda_set_cache(orio_cuda_function kernel, cudaFuncCache config);
cudaError_t orio_cuda_symbol(const void *symbol, size_t symbol_bytes, size_t offset, size_t bytes);

template <size_t... I> struct orio_cuda_indices {};
template <size_t N, size_t... I> struct orio_cuda_count : orio_cuda_count<N - 1, N - 1, I...> {};
template <size_t... I> struct orio_cuda_count<0, I...> { typedef orio_cuda_indices<I...> type; };

template <class T> struct orio_cuda_kind {
  static constexpr char value = !(__is_enum(T) || __is_class(T) || __is_union(T))
                                  ? (T(1) / T(2) != T(0) ? 'f' : T(-1) < T(1) ? 'i' : 'u') : 'x';
};
template <class T> struct orio_cuda_kind<T *> { static constexpr char value = 'p'; };
template <class T> struct orio_cuda_kind<const T *> { static constexpr char value = 'c'; };
template <> struct orio_cuda_kind<bool> { static constexpr char value = 'u'; };

template <class... A> struct orio_cuda_kernel {
  template <size_t... I>
  ORIO_CUDA_PLAIN static void pass(void (*kernel)(A...), void **arguments, orio_cuda_indices<I...>)
  {
    (void)arguments;
    kernel(*static_cast<A *>(arguments[I])...);
  }
  ORIO_CUDA_PLAIN static void invoke(orio_cuda_function kernel, void **arguments)
  {
    pass(reinterpret_cast<void (*)(A...)>(kernel), arguments, typename orio_cuda_count<sizeof...(A)>::type());
  }
  static constexpr orio_cuda_parameter parameters[sizeof...(A) + 1] = {{sizeof(A), orio_cuda_kind<A>::value}...,
                                                                       {0, '\0'}};
};

template <class... A>
static inline cudaError_t cudaLaunchKernel(void (*kernel)(A...), dim3 grid, dim3 block, void **arguments,
                                           size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
  return orio_cuda_launch(nullptr, reinterpret_cast<orio_cuda_function>(kernel), orio_cuda_kernel<A...>::invoke,
                          orio_cuda_kernel<A...>::parameters, sizeof...(A), grid, block, arguments, shared_bytes,
                          stream);
}
template <class... A>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(A...), cudaFuncAttribute attribute, int value)
{
  return orio_cuda_set_attribute(reinterpret_cast<orio_cuda_function>(kernel), attribute, value);
}
template <class... A>
static inline cudaError_t cudaFuncSetCacheConfig(void (*kernel)(A...), cudaFuncCache config)
{
  return orio_cuda_set_cache(reinterpret_cast<orio_cuda_function>(kernel), config);
}
template <class... A>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(A...))
{
  return orio_cuda_get_attributes(attributes, reinterpret_cast<orio_cuda_function>(kernel));
}
template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes)
{
  return cudaMallocHost(reinterpret_cast<void **>(pointer), bytes);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags)
{
  return cudaHostAlloc(reinterpret_cast<void **>(pointer), bytes, flags);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
  return cudaEventCreateWithFlags(event, flags);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
  (void)kind;
  cudaError_t status = orio_cuda_symbol(&symbol, sizeof symbol, offset, bytes);
  if (status == cudaSuccess)
    __builtin_memcpy(const_cast<char *>(reinterpret_cast<const volatile char *>(&symbol)) + offset, from, bytes);
  return status;
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
  (void)kind;
  cudaError_t status = orio_cuda_symbol(&symbol, sizeof symbol, offset, bytes);
  if (status == cudaSuccess)
    __builtin_memcpy(to, reinterpret_cast<const char *>(&symbol) + offset, bytes);
  return status;
}

#endif
