"""HIP C++ for AMD's GPUs (HIP Programming Guide and HIP Runtime API, AMD ROCm 6)."""

from __future__ import annotations

from orio_py.kernel.backend import Backend, LaunchWords

BACKEND = Backend(
    name="hip",
    title="HIP",
    words=LaunchWords("threadCount", "blockCount", "shared memory"),
    block_sizes={1: (256,), 2: (64, 4), 3: (64, 4, 1)},
    has_banks=True,
    source_ending=".hip",
    requirements="C++17, for hipcc of ROCm 5.6 or later",
    build_advice="compile that with hipcc, link both",
    link_flags=("-lamdhip64", "-lstdc++"),
    positions=("threadCount", "cacheBlocks", "pinHostMem", "streamCount"),
    summary="run each outermost loop as a kernel of an AMD GPU; HIP's other arguments by name",
    transformation="transformation.offload.hip:ENTRY",
    renderer="codegen.hip.host:RENDERER",
    measurer="measure.hip.evaluator:MEASURER",
)
