/* The executor of cuda_runtime.h, compiled once, without instrumentation of its own, and linked with the kernels. */
#include "orio_cuda_internal.h"

#include "orio_cuda_report.inc"

#include "orio_cuda_fibre.inc"

#include "orio_cuda_memory.inc"

#include "orio_cuda_block.inc"

#include "orio_cuda_check.inc"

#include "orio_cuda_undefined.inc"

#include "orio_cuda_stream.inc"

#include "orio_cuda_api.inc"
