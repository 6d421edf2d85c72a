/* Answers lines with NVIDIA's own occupancy calculation, the header cuda_occupancy.h of the CUDA toolkit. */
#include <stdio.h>
#include <string.h>
#include <limits.h>
#include "cuda_occupancy.h"

int main(void)
{
  struct cudaOccDeviceProp gpu;
  struct cudaOccFuncAttributes kernel;
  struct cudaOccDeviceState state;
  struct cudaOccResult result;
  int cc, warps, threads, registers, percent;
  long per_block, per_sm, opt_in, reserved, shared;

  while (scanf("%d %d %ld %ld %ld %ld %d %d %ld %d", &cc, &warps, &per_block, &per_sm, &opt_in, &reserved, &threads,
               &registers, &shared, &percent) == 10) {
    memset(&gpu, 0, sizeof gpu);
    memset(&kernel, 0, sizeof kernel);
    memset(&state, 0, sizeof state);
    memset(&result, 0, sizeof result);
    gpu.computeMajor = cc / 10;
    gpu.computeMinor = cc % 10;
    gpu.maxThreadsPerBlock = 1024;
    gpu.maxThreadsPerMultiprocessor = 32 * warps;
    gpu.regsPerBlock = gpu.regsPerMultiprocessor = 65536;
    gpu.warpSize = 32;
    gpu.sharedMemPerBlock = per_block;
    gpu.sharedMemPerMultiprocessor = per_sm;
    gpu.sharedMemPerBlockOptin = opt_in;
    gpu.reservedSharedMemPerBlock = reserved;
    gpu.numSms = 1;
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.maxDynamicSharedSizeBytes = shared;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    state.carveoutConfig = percent;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &gpu, &kernel, &state, threads, shared) != CUDA_OCC_SUCCESS)
      return 1;
    printf("%d %u\n", result.activeBlocksPerMultiprocessor, result.limitingFactors);
  }
  return 0;
}
