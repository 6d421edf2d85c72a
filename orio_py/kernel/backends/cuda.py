"""CUDA C++ for compute capability 7.5 and later (CUDA C++ Programming Guide, NVIDIA)."""

from __future__ import annotations

from orio_py.kernel.backend import Backend, LaunchWords

BACKEND = Backend(
    name="cuda",
    title="CUDA",
    words=LaunchWords("threadCount", "blockCount", "shared memory"),
    block_sizes={1: (128,), 2: (32, 4), 3: (32, 4, 1)},
    has_banks=True,
    source_ending=".cu",
    requirements="C++17, for nvcc of CUDA 11 or later and compute capability 7.5 or later",
    build_advice="compile that with nvcc, link both",
    link_flags=("-lcudart", "-lstdc++"),
    positions=("threadCount", "cacheBlocks", "pinHostMem", "streamCount"),
    summary="run each outermost loop as a kernel of a GPU; CUDA's other arguments by name",
    transformation="transformation.offload.cuda:ENTRY",
    renderer="codegen.cuda.host:RENDERER",
    measurer="measure.cuda.evaluator:MEASURER",
)
