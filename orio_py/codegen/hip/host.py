"""HIP: kernels and host code for AMD's GPUs, which are CUDA's but for some words.

    hipError_t status = hipMalloc(&memory, bytes);          cudaError_t status = cudaMalloc(&memory, bytes);
    value += __shfl_down(value, 16, 32);                    value += __shfl_down_sync(0xffffffffu, value, 16);

HIP's runtime has CUDA's functions under its own name, with the exceptions in `_OTHERS`.  A wavefront has 64 or 32
threads, by product: kernels exchange values in groups of 32, which both have, as all threads of a block take part.

Source: HIP documentation, "HIP porting guide" and "HIP C++ language extensions", AMD ROCm 6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orio_py.codegen.cuda.device import cuda_program
from orio_py.codegen.cuda.dialect import CudaDialect
from orio_py.codegen.cuda.host import one_run, runtime_source
from orio_py.codegen.host_unit import HostUnit
from orio_py.codegen.languages import Renderer
from orio_py.codegen.offload.host import HostLanguage
from orio_py.codegen.offload.on_device import whole_header
from orio_py.codegen.program import Program
from orio_py.ctree.build import call, const
from orio_py.ctree.nodes import Node
from orio_py.kernel.backends.hip import BACKEND
from orio_py.kernel.plan import KernelPlan

_GROUP = 32
"""The threads among which values are exchanged."""

_OTHERS: Mapping[str, str] = {
    "cudaMallocHost": "hipHostMalloc",
    "cudaFreeHost": "hipHostFree",
    "cudaErrorMemoryAllocation": "hipErrorOutOfMemory",
    "cuda_runtime.h": "hip/hip_runtime.h",
}
"""Names of the runtime that HIP does not make by putting its own in place of CUDA's."""

_NAMES = re.compile(r"\b(?:" + "|".join(map(re.escape, _OTHERS)) + r")(?!\w)|\bcuda(?=[A-Z]\w)")
_LAUNCH = re.compile(r"\bcudaLaunchKernel\((?=\w+, grid)(\w+)")
_LOOK = re.compile(r"\bcudaFuncGetAttributes\(&found, (\w+)\)")
_ADDRESS = """\
/* The runtime takes a kernel by its address. */
#ifndef ORIO_KERNEL_ADDRESS
#define ORIO_KERNEL_ADDRESS(kernel) reinterpret_cast<const void *>(kernel)
#endif

"""


class HipDialect(CudaDialect):
    """HIP C++."""

    alignment = "__attribute__((aligned(16)))"

    def shuffle(self, value: Node, distance: Node, *, back: bool) -> Node:
        """`__shfl_down` or `__shfl_up` among 32 threads."""
        return call(f"__shfl_{'up' if back else 'down'}", value, distance, const(_GROUP))


HIP = HipDialect()


def hip_program(plans: Sequence[KernelPlan]) -> str:
    """The text of all kernels of a region, which includes what they need of HIP."""
    return f"#include <hip/hip_runtime.h>\n\n{cuda_program(plans, HIP)}"


def hip_words(text: str) -> str:
    """A text over CUDA's runtime with the names of HIP's.

    >>> hip_words("cudaMallocHost(&p, n) == cudaSuccess"), hip_words("cudaLaunchKernel(axpy, grid, block)")
    ('hipHostMalloc(&p, n) == hipSuccess', 'hipLaunchKernel(ORIO_KERNEL_ADDRESS(axpy), grid, block)')
    """
    launched = _LAUNCH.sub(r"cudaLaunchKernel(ORIO_KERNEL_ADDRESS(\1)", text)
    looked = _LOOK.sub(r"cudaFuncGetAttributes(&found, ORIO_KERNEL_ADDRESS(\1))", launched)
    return _NAMES.sub(lambda match: _OTHERS.get(match[0], "hip"), looked)


_HOST = HostLanguage(
    BACKEND,
    BACKEND.title,
    HIP.type_name,
    one_run,
    "block",
    "thread",
    "hipErrorInvalidValue",
    "orio_stream",
)


def _header(unit: HostUnit) -> Program:
    """The text of `STEM.h`: what C and C++ applications can call."""
    return whole_header(unit, _HOST)


def _source(unit: HostUnit) -> Program:
    """The text of `STEM.hip`.  Raises ValueError for a unit without kernels."""
    made = runtime_source(unit, _HOST, lambda plans: _ADDRESS + cuda_program(plans, HIP))
    return Program(hip_words(made.text))


RENDERER = Renderer(hip_program, _source, _header)
"""What writes the texts of this language."""
