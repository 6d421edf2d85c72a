"""Nests compute the same in C and as HIP kernels, which run on the processor with every access checked.

The language differs from CUDA's in few words, so that some of its nests are enough.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from cuda_host_build import build, run, transformed
from cuda_nests import NESTS, driver, source

from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.transformation.offload.hip import HIP

SOME = (
    "axpy",
    "stencil_steps",
    "product_registers",
    "sum_warp",
    "many",
    "streams_plane",
    "vectors_maths",
    "items",
    "scatter_wide",
    "row_phases",
    "scan_before",
    "kept_places",
)
CHOSEN = {name: replace(NESTS[name], recipe=NESTS[name].recipe.replace("CUDA(", "HIP(")) for name in SOME}


@pytest.mark.proof
def test_nests_compute_the_same(tmp_path: Path) -> None:
    assert HIP().backend.source_ending == ".hip"
    assert transformed(tmp_path, source(CHOSEN)) == ["out.c", "out_hip.hip", "out_hip.h"]
    text = (tmp_path / "out_hip.hip").read_text()
    assert "cuda" not in text.lower()
    assert "__shfl_down(s, orio_distance, 32)" in text
    assert "__shfl_up(orio_scan_count, orio_distance, 32)" in text
    program = build(cuda_on_cpu(tmp_path), tmp_path, driver(CHOSEN), host="out_hip.hip")
    assert run(program) == f"{6 * len(CHOSEN)} runs, 0 differ\n"


def test_the_words_of_the_runtime_are_hips(tmp_path: Path) -> None:
    """A compiler with declarations as HIP's headers have them takes the host code."""
    transformed(
        tmp_path, source({"pinned": replace(NESTS["axpy"], recipe="HIP(pinHostMem=True, dataOnDevice=True)")})
    )
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_runtime.h").write_text(DECLARATIONS)
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", "-x", "c++"]
    subprocess.run([*command, "out_hip.hip"], cwd=tmp_path, check=True)


DECLARATIONS = """\
#include <stddef.h>
#define __global__ __attribute__((used))
#define __launch_bounds__(n)
struct dim3 { unsigned x, y, z; constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
static const dim3 blockIdx, threadIdx;
enum hipError_t { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorInvalidConfiguration = 9, hipErrorInvalidDevice = 101 };
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost };
typedef struct ihipStream_t *hipStream_t;
enum { hipStreamNonBlocking = 1 };
struct hipFuncAttributes { int numRegs; };
extern "C" {
hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *function);
const char *hipGetErrorName(hipError_t error);
hipError_t hipGetLastError(void);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipMalloc(void **pointer, size_t size);
hipError_t hipHostMalloc(void **pointer, size_t size, unsigned flags = 0);
hipError_t hipFree(void *pointer);
hipError_t hipHostFree(void *pointer);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, hipStream_t stream);
}
"""
