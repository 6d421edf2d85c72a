"""OpenCL C 1.2 (The OpenCL Specification 1.2, Khronos OpenCL Working Group, 2012)."""

from __future__ import annotations

from orio_py.kernel.backend import Backend, LaunchWords

BACKEND = Backend(
    name="opencl",
    title="OpenCL",
    words=LaunchWords("workItemsPerGroup", "workGroups", "local memory"),
    block_sizes={1: (64,), 2: (16, 4), 3: (8, 4, 2)},
    has_banks=False,
    source_ending=".c",
    requirements="OpenCL 1.2 and C99; link with OpenCL",
    build_advice="link both with OpenCL",
    link_flags=("-lOpenCL",),
    positions=(),
    summary="run each outermost loop as a kernel, with OpenCL's arguments by name",
    transformation="transformation.offload.opencl:ENTRY",
    renderer="codegen.opencl.host:RENDERER",
    measurer="measure.opencl.evaluator:MEASURER",
)
