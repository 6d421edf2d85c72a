"""Kernels with loops that a group runs in blocks: what stands between the barriers.

    for (long orio_begin_k = 0; orio_begin_k < orio_trips_k; orio_begin_k += 16) {
      …                                       load the tiles
      barrier(CLK_LOCAL_MEM_FENCE);
      const int orio_length_k = min(16L, orio_trips_k - orio_begin_k);
      if (orio_inside) {
        …                                     one block
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }

Items that have no iteration load tiles and wait like the others.

Source: The OpenCL Specification 1.2, section 6.12.8.
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.codegen.offload.body import device_statement
from orio_py.codegen.offload.dialect import Kernel
from orio_py.codegen.offload.loops import (
    Steps,
    counters,
    declarations,
    inside,
    loads,
    place_loops,
    statement_lines,
    steps_of,
    type_text,
)
from orio_py.ctree.build import literal_value
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import begin_name, length_name, start_name, trips_name
from orio_py.kernel.plan import BlockPlan

_INSIDE = "orio_inside"


def kernel_with_blocks(kernel: Kernel) -> list[str]:
    """The lines by which each group does its steps."""
    plan = kernel.plan
    steps = steps_of(kernel)
    lines = list(steps.lines)
    if not steps.several:
        lines += counters(plan, steps.indent)
        lines.append(f"{steps.indent}const int {_INSIDE} = {inside(plan)};")
        lines += declarations(kernel, steps.indent)
    place = 0
    for number, block in enumerate(plan.blocks):
        lines += _guarded(kernel, steps, plan.body[place : block.begin], steps.indent)
        lines += _block(kernel, steps, number, block)
        place = block.end
    lines += _guarded(kernel, steps, plan.body[place:], steps.indent)
    waits = steps.depth and any(tile.block is None for tile in plan.staged)
    lines += [f"{steps.indent}{kernel.dialect.barrier}"] if waits else []
    return [*lines, *(f"{'  ' * (level + 1)}}}" for level in reversed(range(steps.depth)))]


def _guarded(kernel: Kernel, steps: Steps, nodes: Sequence[Node], indent: str) -> list[str]:
    """Statements for the items that have an iteration, for each of it."""
    if not nodes:
        return []
    plan = kernel.plan
    places = place_loops(kernel, steps.several, indent)
    inner = indent + "  " * len(steps.several)
    lines = [*places]
    if steps.several:
        lines += [*counters(plan, inner), f"{inner}if ({inside(plan)}) {{"]
        lines += declarations(kernel, f"{inner}  ", used_names(nodes))
    else:
        lines.append(f"{inner}if ({_INSIDE}) {{")
    for node in nodes:
        lines += statement_lines(node, kernel, f"{inner}  ")
    return [*lines, *(f"{indent}{'  ' * level}}}" for level in reversed(range(len(steps.several) + 1)))]


def _block(kernel: Kernel, steps: Steps, number: int, block: BlockPlan) -> list[str]:
    """The loop over the blocks of a loop, in braces of its own as its names may be those of another one."""
    plan, axis, outer = kernel.plan, block.axis, f"{steps.indent}  "
    begin, trips, indent = begin_name(axis), trips_name(axis), f"{steps.indent}    "
    lines = [f"{steps.indent}{{"]
    if literal_value(axis.start) is None:
        kind = type_text(axis.type, kernel)
        start = _expression(axis.start, kernel)
        lines.append(f"{outer}const {kind} {start_name(axis)} = {start};")
    lines.append(f"{outer}const long {trips} = {_expression(axis.trips, kernel)};")
    lines.append(f"{outer}for (long {begin} = 0; {begin} < {trips}; {begin} += {block.size}) {{")
    lines += loads(kernel, number, indent)
    lines.append(f"{indent}const int {length_name(axis)} = (int)min({block.size}L, {trips} - {begin});")
    lines += _guarded(kernel, steps, plan.body[block.begin : block.end], indent)
    return [*lines, f"{indent}{kernel.dialect.barrier}", f"{outer}}}", f"{steps.indent}}}"]


def _expression(node: Node, kernel: Kernel) -> str:
    """An expression in the kernel's language."""
    return emit_expression(device_statement(node, kernel))
