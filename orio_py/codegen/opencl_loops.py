"""The loops and conditions by which the items of a kernel find their iterations.

With staged tiles, all items of a group go through the same steps, since each of them has to reach the barriers:

    for (long orio_begin_i = get_group_id(0) * 64; orio_begin_i < orio_trips_i; orio_begin_i += …) {
      …                                       load the tiles
      barrier(CLK_LOCAL_MEM_FENCE);
      const long orio_i = orio_begin_i + orio_place_i;
      if (orio_i < orio_trips_i) {
        …                                     the body
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }

Source: The OpenCL Specification 1.2, sections 3.2.2 and 6.12.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.codegen.opencl_body import device_name, device_statement
from orio_py.codegen.opencl_types import Types
from orio_py.ctree.build import literal_value
from orio_py.ctree.emit import emit
from orio_py.transform.offload.call import begin_name, place_name, start_name, trips_name
from orio_py.transform.offload.plan import Axis, KernelPlan, Spread
from orio_py.transform.offload.types import device_type

_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The lines before and behind the body of one iteration, and in how many blocks it stands."""

    opening: tuple[str, ...]
    closing: tuple[str, ...]
    depth: int


def blocks_around(plan: KernelPlan, types: Types) -> Blocks:
    """What stands around the body; `types` are those of all names in the kernel."""
    if plan.staged:
        return _staged(plan, types)
    opening, depth = _opening(plan)
    closing = tuple(f"{'  ' * (level + 1)}}}" for level in reversed(range(depth)))
    return Blocks(tuple(opening), closing, depth)


def _staged(plan: KernelPlan, types: Types) -> Blocks:
    """Load the tiles, then do an iteration if there is one, for each step of the group."""
    steps = not _is_single(plan)
    dimensions = [(axis, len(plan.axes) - 1 - level) for level, axis in enumerate(plan.axes)]
    lines = [f"  const int orio_item = {linear('get_local_id', 'get_local_size', len(plan.axes))};"]
    several = [d for _, d in dimensions if plan.launch.step[d] > plan.launch.items[d]]
    lines += [f"  const int {place_name(a)} = get_local_id({d});" for a, d in dimensions if d not in several]
    for level, (axis, dimension) in enumerate(dimensions):
        begin, width = begin_name(axis), plan.launch.step[dimension]
        first = f"long {begin} = (long)get_group_id({dimension}) * {width}"
        step = f"{begin} += (long)get_num_groups({dimension}) * {width}"
        if steps:
            lines.append(f"{'  ' * (level + 1)}for ({first}; {begin} < {trips_name(axis)}; {step}) {{")
        else:
            lines.append(f"  const {first};")
    depth = len(dimensions) if steps else 0
    indent = "  " * (depth + 1)
    for tile in plan.staged:
        for node in tile.load:
            text = emit(device_statement(node, types), indent=indent, braces=True)
            lines += text.splitlines()
    lines.append(f"{indent}{_BARRIER}")
    inner = indent
    for axis, dimension in dimensions:
        if dimension in several:
            place, last = place_name(axis), plan.launch.step[dimension]
            first, step = (
                f"int {place} = get_local_id({dimension})",
                f"{place} += {plan.launch.items[dimension]}",
            )
            lines.append(f"{inner}for ({first}; {place} < {last}; {step}) {{")
            inner += "  "
    lines += [f"{inner}const long {counter(a, plan)} = {begin_name(a)} + {place_name(a)};" for a in plan.axes]
    tests = " && ".join(f"{counter(axis, plan)} < {trips_name(axis)}" for axis in plan.axes)
    closing = [f"{indent}{'  ' * level}}}" for level in reversed(range(len(several) + 1))]
    closing += [f"{indent}{_BARRIER}"] if steps else []
    closing += [f"{'  ' * (level + 1)}}}" for level in reversed(range(depth))]
    return Blocks((*lines, f"{inner}if ({tests}) {{"), tuple(closing), depth + len(several) + 1)


def _is_single(plan: KernelPlan) -> bool:
    """Whether each item does one iteration at most."""
    return plan.launch.groups is None and plan.coarsen == 1


def _opening(plan: KernelPlan) -> tuple[list[str], int]:
    """The lines that open the blocks around the body, and how many blocks those are."""
    if _is_single(plan):
        return _single(plan), 1
    lines: list[str] = []
    for level, axis in enumerate(plan.axes):
        dimension = len(plan.axes) - 1 - level
        lines += [f"{'  ' * (level + 1)}{line}" for line in _loop(plan, axis, dimension)]
    if plan.unroll is not None:
        lines.insert(-1, f"{'  ' * len(plan.axes)}#pragma unroll {plan.unroll}")
    return lines, len(plan.axes)


def _single(plan: KernelPlan) -> list[str]:
    """Each item does one iteration, if there is one for it."""
    lines: list[str] = []
    tests: list[str] = []
    for level, axis in enumerate(plan.axes):
        dimension = len(plan.axes) - 1 - level
        lines.append(f"  const long {counter(axis, plan)} = {_times('get_global_id', dimension, plan)};")
        tests.append(f"{counter(axis, plan)} < {trips_name(axis)}")
    return [*lines, f"  if ({' && '.join(tests)}) {{"]


def _loop(plan: KernelPlan, axis: Axis, dimension: int) -> list[str]:
    """Each item does every iteration that is its own."""
    number, trips = counter(axis, plan), trips_name(axis)
    first, step = (_times(function, dimension, plan) for function in ("get_global_id", "get_global_size"))
    if dimension == 0 and plan.spread is Spread.BLOCKED:
        piece, end = f"orio_piece_{axis.index}", f"orio_end_{axis.index}"
        size, place = "(long)get_global_size(0)", "(long)get_global_id(0)"
        width = plan.launch.vector
        several = "" if width == 1 else f" * {width}"
        whole = size if width == 1 else f"{size} * {width}"
        return [
            f"const long {piece} = ({trips} + {whole} - 1) / {f'({whole})' if several else whole}{several};",
            f"const long {end} = min(({place} + 1) * {piece}, {trips});",
            f"for (long {number} = {place} * {piece}; {number} < {end}; {number}{f' += {width}' if several else '++'}) {{",
        ]
    return [f"for (long {number} = {first}; {number} < {trips}; {number} += {step}) {{"]


def _times(function: str, dimension: int, plan: KernelPlan) -> str:
    """What an index function says of a dimension, in iterations: an item does as many as there are lanes."""
    text = f"{function}({dimension})"
    return f"(long){text} * {plan.launch.vector}" if dimension == 0 and plan.launch.vector > 1 else text


def counter(axis: Axis, plan: KernelPlan) -> str:
    """The name of the iteration's number: the index itself where that is the same."""
    lanes = plan.lanes is not None and axis is plan.axes[-1]
    plain = literal_value(axis.start) == 0 and axis.stride == 1 and not lanes
    same = plain and device_type(axis.type) == "long"
    return device_name(axis.index) if same else f"orio_{axis.index}"


def index_declared(axis: Axis, number: str) -> str:
    """The declaration of the loop's index in the iteration of a number."""
    kind, value = device_type(axis.type), literal_value(axis.start)
    start = str(value) if value is not None else start_name(axis)
    size = abs(axis.stride)
    steps = number if size == 1 else f"{size} * {number}"
    if start == "0" and axis.stride > 0:
        index = steps if size == 1 else f"({steps})"
    else:
        index = f"({start} {'+' if axis.stride > 0 else '-'} {steps})"
    return f"const {kind} {device_name(axis.index)} = ({kind}){index};"


def linear(number: str, size: str, dimensions: int) -> str:
    """The number of an item in its group, or of a group, counted over all dimensions, the first fastest."""
    text = f"{number}({dimensions - 1})"
    for dimension in reversed(range(dimensions - 1)):
        text = f"({text})" if "+" in text else text
        text = f"{text} * {size}({dimension}) + {number}({dimension})"
    return text
