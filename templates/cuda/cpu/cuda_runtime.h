/* CUDA kernels and host code on the processor, for correctness only: no time of such a run says anything of a GPU.

   A C++17 compiler takes this header in place of NVIDIA's.  Threads of a block are fibres, blocks run one after
   another, operations of streams as late as they may.  What is found, and what cannot be, stands in
   docs/reference/cuda-cpu.md. */
#ifndef ORIO_CUDA_CPU_RUNTIME_H
#define ORIO_CUDA_CPU_RUNTIME_H

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* `#pragma unroll` */
#endif

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "orio_cuda_vectors.h"

#include "orio_cuda_host.h"

#include "orio_cuda_device.h"

#endif
