/* Host code as it should be, and host code with one mistake each: the first argument says which. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256 };

__global__ void add_one(const double *x, double *y, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + 1.0;
}

__constant__ int factor;
__global__ void multiply(int *x) { x[threadIdx.x] *= factor; }

static int done(cudaError_t status, const char *call)
{
  if (status != cudaSuccess)
    printf("%s: %s\n", call, cudaGetErrorName(status));
  return status == cudaSuccess;
}
#define TRY(call) \
  do { \
    if (!done(call, #call)) \
      return 3; \
  } while (0)

struct Arrays {
  double *x = nullptr, *y = nullptr, *from = nullptr, *to = nullptr;
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
};

static int open(Arrays &it)
{
  TRY(cudaMallocHost(&it.x, N * sizeof(double)));
  TRY(cudaMallocHost(&it.y, N * sizeof(double)));
  TRY(cudaMalloc(&it.from, N * sizeof(double)));
  TRY(cudaMalloc(&it.to, N * sizeof(double)));
  TRY(cudaStreamCreateWithFlags(&it.first, cudaStreamNonBlocking));
  TRY(cudaStreamCreateWithFlags(&it.second, cudaStreamNonBlocking));
  TRY(cudaEventCreateWithFlags(&it.event, cudaEventDisableTiming));
  for (int i = 0; i < N; i++) {
    it.x[i] = i;
    it.y[i] = -1.0;
  }
  return 0;
}

static void close(Arrays &it)
{
  if (it.event != nullptr)
    (void)done(cudaEventDestroy(it.event), "cudaEventDestroy");
  if (it.first != nullptr)
    (void)done(cudaStreamDestroy(it.first), "cudaStreamDestroy");
  if (it.second != nullptr)
    (void)done(cudaStreamDestroy(it.second), "cudaStreamDestroy");
  (void)done(cudaFree(it.from), "cudaFree");
  (void)done(cudaFree(it.to), "cudaFree");
  (void)done(cudaFreeHost(it.x), "cudaFreeHost");
  (void)done(cudaFreeHost(it.y), "cudaFreeHost");
}

static int start(Arrays &it, bool waits)
{
  int n = N;
  void *arguments[] = {&it.from, &it.to, &n};
  TRY(cudaMemcpyAsync(it.from, it.x, N * sizeof(double), cudaMemcpyHostToDevice, it.first));
  TRY(cudaEventRecord(it.event, it.first));
  if (waits)
    TRY(cudaStreamWaitEvent(it.second, it.event, 0));
  TRY(cudaLaunchKernel(add_one, dim3(4), dim3(64), arguments, 0, it.second));
  TRY(cudaGetLastError());
  TRY(cudaMemcpyAsync(it.y, it.to, N * sizeof(double), cudaMemcpyDeviceToHost, it.second));
  return 0;
}

static int compare(const Arrays &it)
{
  for (int i = 0; i < N; i++)
    if (it.y[i] != i + 1.0) {
      printf("y[%d] is %g\n", i, it.y[i]);
      return 1;
    }
  return 0;
}

static int pipeline(const char *name)
{
  Arrays it;
  int status = open(it);
  if (status == 0)
    status = start(it, strcmp(name, "no_event") != 0);
  if (status == 0 && strcmp(name, "overwrites") == 0)
    it.x[7] = 0.0;
  if (status == 0 && strcmp(name, "no_wait") != 0)
    status = done(cudaStreamSynchronize(it.second), "cudaStreamSynchronize") ? 0 : 3;
  if (status == 0 && strcmp(name, "no_event") == 0)
    status = done(cudaStreamSynchronize(it.first), "cudaStreamSynchronize") ? 0 : 3;
  if (status == 0)
    status = compare(it);
  if (strcmp(name, "leak") != 0)
    close(it);
  return status;
}

static int expect(cudaError_t status, cudaError_t wanted, int line)
{
  if (status != wanted)
    printf("line %d: %s, not %s\n", line, cudaGetErrorName(status), cudaGetErrorName(wanted));
  return status != wanted;
}
#define EXPECT(call, wanted) failures += expect(call, wanted, __LINE__)

static int limits()
{
  int failures = 0, value = 0, n = 1;
  double *x = nullptr, *y = nullptr;
  void *nothing;
  cudaDeviceProp properties;
  void *arguments[] = {&x, &y, &n};
  EXPECT(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  printf("sm_%d%d %d %zu %d %d %d\n", properties.major, properties.minor, value, properties.sharedMemPerMultiprocessor,
         properties.maxThreadsPerMultiProcessor, properties.maxBlocksPerMultiProcessor,
         properties.multiProcessorCount);
  EXPECT(cudaLaunchKernel(add_one, dim3(1), dim3(1025), arguments), cudaErrorInvalidConfiguration);
  EXPECT(cudaLaunchKernel(add_one, dim3(1), dim3(1, 1, 65), arguments), cudaErrorInvalidConfiguration);
  EXPECT(cudaLaunchKernel(add_one, dim3(0), dim3(1), arguments), cudaErrorInvalidConfiguration);
  EXPECT(cudaLaunchKernel(add_one, dim3(1, 65536), dim3(1), arguments), cudaErrorInvalidConfiguration);
  EXPECT(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError(), cudaSuccess);
  n = 0;
  EXPECT(cudaLaunchKernel(add_one, dim3(1), dim3(1), arguments, 60000), cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000), cudaSuccess);
  EXPECT(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, value + 1),
         cudaErrorInvalidValue);
  EXPECT(cudaLaunchKernel(add_one, dim3(1), dim3(1), arguments, 60000), cudaSuccess);
  EXPECT(cudaFuncSetCacheConfig(add_one, cudaFuncCachePreferL1), cudaSuccess);
  EXPECT(cudaMalloc(&nothing, (size_t)1 << 50), cudaErrorMemoryAllocation);
  EXPECT(cudaStreamDestroy((cudaStream_t)&value), cudaErrorInvalidResourceHandle);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  return failures;
}

static int sticky()
{
  int failures = 0, n = 64, three = 3, *numbers;
  double *x;
  cudaEvent_t event;
  float milliseconds = -1.0f;
  EXPECT(cudaMalloc(&x, 8 * sizeof(double)), cudaSuccess);
  void *arguments[] = {&x, &x, &n};
  EXPECT(cudaMemset(x, 0, 8 * sizeof(double)), cudaSuccess);
  EXPECT(cudaLaunchKernel(add_one, dim3(1), dim3(32), arguments), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&x, 8), cudaErrorIllegalAddress);
  EXPECT(cudaDeviceReset(), cudaSuccess);
  orio_cuda_cpu_clear();
  int values[2] = {5, 6};
  EXPECT(cudaMalloc(&numbers, sizeof values), cudaSuccess);
  EXPECT(cudaMemcpy2D(numbers, 4, values, 4, 4, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT(cudaMemcpyToSymbol(factor, &three, sizeof three), cudaSuccess);
  void *more[] = {&numbers};
  EXPECT(cudaLaunchKernel(multiply, dim3(1), dim3(2), more), cudaSuccess);
  EXPECT(cudaMemcpy(values, numbers, sizeof values, cudaMemcpyDefault), cudaSuccess);
  failures += values[0] != 15 || values[1] != 18;
  EXPECT(cudaEventCreate(&event), cudaSuccess);
  EXPECT(cudaEventRecord(event, nullptr), cudaSuccess);
  EXPECT(cudaEventQuery(event), cudaSuccess);
  EXPECT(cudaEventElapsedTime(&milliseconds, event, event), cudaSuccess);
  failures += milliseconds != 0.0f;
  EXPECT(cudaEventDestroy(event), cudaSuccess);
  EXPECT(cudaFree(numbers), cudaSuccess);
  return failures;
}

static int misuse(const char *name)
{
  int n = 1;
  double *x, here[4] = {0.0, 0.0, 0.0, 0.0};
  double *host = here;
  TRY(cudaMalloc(&x, sizeof here));
  if (strcmp(name, "host_reads") == 0)
    return x[1] > 0.0 ? 1 : 0;
  if (strcmp(name, "host_argument") == 0) {
    void *arguments[] = {&host, &x, &n};
    TRY(cudaLaunchKernel(add_one, dim3(1), dim3(1), arguments));
    TRY(cudaDeviceSynchronize());
  }
  if (strcmp(name, "long_copy") == 0)
    TRY(cudaMemcpy(x, here, sizeof here + 1, cudaMemcpyHostToDevice));
  if (strcmp(name, "freed") == 0) {
    void *arguments[] = {&x, &x, &n};
    TRY(cudaFree(x));
    TRY(cudaLaunchKernel(add_one, dim3(1), dim3(1), arguments));
    TRY(cudaDeviceSynchronize());
  }
  return 0;
}

int main(int, char **given)
{
  if (strcmp(given[1], "limits") == 0)
    return limits();
  if (strcmp(given[1], "sticky") == 0)
    return sticky();
  if (strcmp(given[1], "calls") == 0) {
    int status = pipeline("good");
    printf("%ld %ld\n", orio_cuda_cpu_calls(), orio_cuda_cpu_alive());
    return status;
  }
  static const char *const pipelines[] = {"good", "no_event", "overwrites", "no_wait", "leak"};
  for (const char *name : pipelines)
    if (strcmp(given[1], name) == 0)
      return pipeline(name);
  return misuse(given[1]);
}
