"""The lines of a kernel between its declarations and its partial results."""

from __future__ import annotations

from orio_py.codegen.offload.blocks import kernel_with_blocks
from orio_py.codegen.offload.dialect import Kernel
from orio_py.codegen.offload.lanes import lanes_body, plain_body
from orio_py.codegen.offload.loops import blocks_around
from orio_py.codegen.offload.reductions import lanes_declared, lanes_merged


def kernel_lines(kernel: Kernel) -> list[str]:
    """The lines by which each item finds its iterations and runs them."""
    if kernel.plan.blocks:
        return kernel_with_blocks(kernel)
    has_lanes = kernel.plan.lanes is not None
    around = blocks_around(kernel)
    write = lanes_body if has_lanes else plain_body
    opening = [*(lanes_declared(kernel) if has_lanes else ()), *around.opening]
    body = write(kernel, "  " * (around.depth + 1)).splitlines()
    return [*opening, *body, *around.closing, *(lanes_merged(kernel) if has_lanes else ())]


def wrapped_head(first: str, parameters: list[str], width: int) -> str:
    """`first` and the parameters up to `)`, in lines of at most `width` characters where they can be broken."""
    lines: list[str] = []
    line = first
    for number, parameter in enumerate(parameters):
        piece = parameter + (")" if number + 1 == len(parameters) else ",")
        if len(line) + len(piece) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += piece if line.endswith("(") or not line.strip() else f" {piece}"
    return "\n".join([*lines, line])
