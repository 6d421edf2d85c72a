/* HIP kernels and host code on the processor: the names of AMD's runtime for what runs CUDA's. */
#ifndef ORIO_HIP_CPU_RUNTIME_H
#define ORIO_HIP_CPU_RUNTIME_H

#include "../cuda_runtime.h"

/* A kernel keeps its type, from which the executor learns its parameters. */
#define ORIO_KERNEL_ADDRESS(kernel) kernel

#define hipError_t cudaError_t
#define hipEvent_t cudaEvent_t
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventRecord cudaEventRecord
#define hipFree cudaFree
#define hipFuncAttributes cudaFuncAttributes
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipGetDevice cudaGetDevice
#define hipGetErrorName cudaGetErrorName
#define hipGetLastError cudaGetLastError
#define hipHostFree cudaFreeHost
#define hipHostMalloc cudaMallocHost
#define hipLaunchKernel cudaLaunchKernel
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipSetDevice cudaSetDevice
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent

/* All threads of a wavefront take part; neighbours are those of a group of `width`. */
#define __shfl_down(value, delta, width) __shfl_down_sync(0xffffffffu, value, delta, width)
#define __shfl_up(value, delta, width) __shfl_up_sync(0xffffffffu, value, delta, width)

#endif
