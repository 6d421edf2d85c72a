"""What is known of the driver's errors, whichever library calls it."""

from __future__ import annotations

POISONS = frozenset(
    {
        "CUDA_ERROR_DEINITIALIZED",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_CONTAINED",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK",
        "CUDA_ERROR_MPS_CLIENT_TERMINATED",
        "CUDA_ERROR_EXTERNAL_DEVICE",
        "CUDA_ERROR_UNKNOWN",
    }
)
"""Errors after which a process gets no further work done.

They are those of which the CUDA Driver API 13.0, section "Data types used by CUDA driver" (`CUresult`), says that
the process must be terminated and relaunched, or that its context must be destroyed; the two of hardware, which say
nothing about it; the end of the driver; and the error that is not known.
"""

LIMIT_WITHOUT_ASKING = 48 * 1024
"""Bytes of shared memory that a block gets without `cuFuncSetAttribute` (CUDA C++ Programming Guide 13.0, section
"Compute Capabilities": more is dynamic and needs an explicit opt-in)."""


def version_words(number: int) -> str:
    """A version as the driver tells it, 1000 major + 10 minor, as people write it."""
    return f"{number // 1000}.{number % 1000 // 10}"
