"""Nests compute the same in C and as CUDA kernels, which run on the processor with every access checked."""

from __future__ import annotations

from cuda_host_build import build, run, transformed
from cuda_nests import NESTS, driver, source

from orio_py.build.cuda_cpu import cuda_on_cpu


def test_nests_compute_the_same(tmp_path):
    """`transform CUDA(...)` with every argument that changes what a kernel or its host code does."""
    assert transformed(tmp_path, source()) == ["out.c", "out_cuda.cu", "out_cuda.h"]
    program = build(cuda_on_cpu(tmp_path), tmp_path, driver())
    assert run(program) == f"{6 * len(NESTS)} runs, 0 differ\n"
