"""Generated CUDA text is machine code for every architecture that is served, within what it promises."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from c_trees import context, parse
from cuda_compilers import nvrtc_or_skip
from cuda_nests import NESTS

from orio_py.build.cuda import CudaBinary, cuda_options
from orio_py.codegen.cuda.device import cuda_program
from orio_py.core.expr import Value
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import KernelPlan
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.offload.limits import shared_bytes

DECLARATIONS = """int i, j, k, n, m, low, all, bits, ors; double a, s, t, top, p; double *restrict x, *restrict y,
*restrict z; double P[64][64], Q[64][64]; float *restrict f, *restrict g; int *restrict c; unsigned char *restrict b;"""
ARGUMENTS: dict[str, dict[str, Value]] = {
    "axpy": {"maxRegisters": 24},
    "sum": {"threadCount": 256},
    "many": {"threadCount": 160, "blockCount": 2},
    "stencil_tile": {"nd": 2, "threadCount": [16, 4], "cacheBlocks": True},
    "product_tile": {"nd": 2, "threadCount": [16, 8], "cacheBlocks": True, "unrollInner": 4},
    "vectors": {"vectorWidth": 2},
    "vectors_float": {"vectorWidth": 4},
    "vectors_maths": {"vectorWidth": 4},
    "types": {"launchBounds": 2},
    "columns": {"layout": "column"},
    "scatter": {"cacheUpdates": True},
    "row_element": {"rowThreads": 128},
    "row_phases": {"rowThreads": 32},
    "row_waits": {"rowThreads": 48},
    "scatter_wide": {"threadCount": 64},
    "extremes_wide": {"threadCount": 32},
    "streams_sum": {"streamCount": 4, "blockCount": 2},
}


def plans() -> list[KernelPlan]:
    around = context(DECLARATIONS, live="y Q g b s top low all bits ors", assumptions=Assumptions(True, True))
    found: list[KernelPlan] = []
    for name, arguments in ARGUMENTS.items():
        tree = TRANSFORMATIONS["CUDA"].make(arguments).apply(parse(NESTS[name].code), around)
        (plan,) = kernel_plans(tree)
        found.append(replace(plan, name=name))
    return found


@pytest.mark.share(2)
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_kernels_compile(architecture: str):
    nvrtc = nvrtc_or_skip()
    kernels = plans()
    built = nvrtc.compile(cuda_program(kernels), architecture, cuda_options(""))
    assert isinstance(built, CudaBinary), built
    for plan in kernels:
        used = built.kernel(plan.name)
        # The slow path of a mathematical function is called, and a register may wait on the stack meanwhile.
        assert used.spill_store_bytes <= (8 if plan.name == "vectors_maths" else 0), plan.name
        # Some architectures keep 1 KiB for the driver.
        assert used.shared_bytes in {shared_bytes(plan, 32), shared_bytes(plan, 32) + 1024}, plan.name
        threads = None if plan.options.cuda.max_registers is not None else prod(plan.launch.block_size)
        assert used.max_threads == threads, plan.name
    assert built.kernel("axpy").registers <= 24
