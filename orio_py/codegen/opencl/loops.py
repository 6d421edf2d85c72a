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

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from orio_py.codegen.device_names import device_name
from orio_py.codegen.opencl.body import device_statement
from orio_py.codegen.opencl.types import Types
from orio_py.ctree.build import literal_value
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node
from orio_py.transform.offload.call import begin_name, from_name, place_name, start_name, trips_name
from orio_py.transform.offload.plan import Axis, KernelPlan, Spread
from orio_py.transform.offload.types import device_type

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The lines before and behind the body of one iteration, and in how many blocks it stands."""

    opening: tuple[str, ...]
    closing: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Steps:
    """How the items of a group begin a step together: `lines` up to its tiles, `depth` loops around them.

    `several` are the dimensions in which an item does more than one iteration of a step.
    """

    lines: tuple[str, ...]
    depth: int
    several: tuple[int, ...]

    @property
    def indent(self) -> str:
        """The indentation inside the loops."""
        return "  " * (self.depth + 1)


def blocks_around(plan: KernelPlan, types: Types) -> Blocks:
    """What stands around the body; `types` are those of all names in the kernel."""
    if plan.staged:
        return _staged(plan, types)
    opening, depth = _opening(plan)
    closing = tuple(f"{'  ' * (level + 1)}}}" for level in reversed(range(depth)))
    return Blocks(tuple(opening), closing, depth)


def dimensions_of(plan: KernelPlan) -> list[tuple[Axis, int]]:
    """The axes, slowest first, with their dimensions of the launch."""
    return [(axis, len(plan.axes) - 1 - level) for level, axis in enumerate(plan.axes)]


def steps_of(plan: KernelPlan, types: Types) -> Steps:
    """The places of an item, the loops over a group's steps, and the tiles that each step loads."""
    dimensions = dimensions_of(plan)
    lines = [f"  const int orio_item = {linear('get_local_id', 'get_local_size', len(plan.axes))};"]
    several = tuple(d for _, d in dimensions if plan.launch.step[d] > plan.launch.items[d])
    lines += [f"  const int {place_name(a)} = get_local_id({d});" for a, d in dimensions if d not in several]
    for level, (axis, dimension) in enumerate(dimensions):
        begin, width = begin_name(axis), plan.launch.step[dimension]
        first = f"long {begin} = {_behind(plan, level)}(long)get_group_id({dimension}) * {width}"
        step = f"{begin} += (long)get_num_groups({dimension}) * {width}"
        if _is_single(plan):
            lines.append(f"  const {first};")
        else:
            lines.append(f"{'  ' * (level + 1)}for ({first}; {begin} < {trips_name(axis)}; {step}) {{")
    steps = Steps(tuple(lines), 0 if _is_single(plan) else len(dimensions), several)
    return replace(steps, lines=(*lines, *loads(plan, types, None, steps.indent)))


def loads(plan: KernelPlan, types: Types, block: int | None, indent: str) -> list[str]:
    """The statements that fill the tiles of a block, or of a step, and the barrier behind them; perhaps none."""
    lines: list[str] = []
    for tile in plan.staged:
        for node in tile.load if tile.block == block else ():
            lines += statement_lines(node, types, indent)
    return [*lines, f"{indent}{BARRIER}"] if lines else []


def place_loops(plan: KernelPlan, several: Sequence[int], indent: str) -> list[str]:
    """The heads of the loops over the iterations of an item in one step of its group, one for each of `several`."""
    lines: list[str] = []
    chosen = [(axis, dimension) for axis, dimension in dimensions_of(plan) if dimension in several]
    for level, (axis, dimension) in enumerate(chosen):
        place, last, inner = place_name(axis), plan.launch.step[dimension], indent + "  " * level
        first = f"int {place} = get_local_id({dimension})"
        step = f"{place} += {plan.launch.items[dimension]}"
        lines += [f"{inner}{line}" for line in (_unrolling(plan) if level + 1 == len(chosen) else [])]
        lines.append(f"{inner}for ({first}; {place} < {last}; {step}) {{")
    return lines


def _unrolling(plan: KernelPlan) -> list[str]:
    """The pragma before the loop over an item's own iterations."""
    return [] if plan.unroll is None else [f"#pragma unroll {plan.unroll}"]


def inside(plan: KernelPlan) -> str:
    """The test whether an item has an iteration."""
    return " && ".join(f"{counter(axis, plan)} < {trips_name(axis)}" for axis in plan.axes)


def counters(plan: KernelPlan, indent: str) -> list[str]:
    """The declarations of the iterations' numbers."""
    return [f"{indent}const long {counter(a, plan)} = {begin_name(a)} + {place_name(a)};" for a in plan.axes]


def _staged(plan: KernelPlan, types: Types) -> Blocks:
    """Load the tiles, then do an iteration if there is one, for each step of the group."""
    steps = steps_of(plan, types)
    places = place_loops(plan, steps.several, steps.indent)
    inner = steps.indent + "  " * len(steps.several)
    opening = (*steps.lines, *places, *counters(plan, inner), f"{inner}if ({inside(plan)}) {{")
    closing = [f"{steps.indent}{'  ' * level}}}" for level in reversed(range(len(steps.several) + 1))]
    closing += [f"{steps.indent}{BARRIER}"] if steps.depth else []
    closing += [f"{'  ' * (level + 1)}}}" for level in reversed(range(steps.depth))]
    return Blocks(opening, tuple(closing), steps.depth + len(steps.several) + 1)


def _is_single(plan: KernelPlan) -> bool:
    """Whether each item does one iteration at most."""
    return plan.launch.groups is None and plan.coarsen == 1


def _opening(plan: KernelPlan) -> tuple[list[str], int]:
    """The lines that open the blocks around the body, and how many blocks those are."""
    if _is_single(plan):
        lines, tests = _single(plan)
        if plan.launch.free and plan.launch.vector == 1:
            return lines, 0  # There are as many items as iterations.
        return [*lines, f"  if ({' && '.join(tests)}) {{"], 1
    lines: list[str] = []
    for level, axis in enumerate(plan.axes):
        dimension = len(plan.axes) - 1 - level
        lines += [
            f"{'  ' * (level + 1)}{line}" for line in _loop(plan, axis, dimension, _behind(plan, level))
        ]
    return lines, len(plan.axes)


def _single(plan: KernelPlan) -> tuple[list[str], list[str]]:
    """The numbers of an item's iteration, and the tests whether there is one for it."""
    lines: list[str] = []
    tests: list[str] = []
    for level, axis in enumerate(plan.axes):
        dimension = len(plan.axes) - 1 - level
        number = f"{_behind(plan, level)}{_times('get_global_id', dimension, plan)}"
        lines.append(f"  const long {counter(axis, plan)} = {number};")
        tests.append(f"{counter(axis, plan)} < {trips_name(axis)}")
    return lines, tests


def _behind(plan: KernelPlan, level: int) -> str:
    """What an axis adds to the numbers of its iterations: those before the slice that a queue runs."""
    return f"{from_name(plan.axes[0])} + " if level == 0 and plan.options.streams > 1 else ""


def _loop(plan: KernelPlan, axis: Axis, dimension: int, before: str) -> list[str]:
    """Each item does every iteration that is its own, counted behind those `before`."""
    number, trips = counter(axis, plan), trips_name(axis)
    first, step = (_times(function, dimension, plan) for function in ("get_global_id", "get_global_size"))
    unrolling = _unrolling(plan) if dimension == 0 else []
    if dimension == 0 and plan.spread is Spread.BLOCKED:
        length = f"{trips} - {before.removesuffix(' + ')}" if before else trips
        piece, end = f"orio_piece_{axis.index}", f"orio_end_{axis.index}"
        size, place = "(long)get_global_size(0)", "(long)get_global_id(0)"
        width = plan.launch.vector
        several = "" if width == 1 else f" * {width}"
        whole = size if width == 1 else f"{size} * {width}"
        return [
            f"const long {piece} = ({length} + {whole} - 1) / {f'({whole})' if several else whole}{several};",
            f"const long {end} = min({before}({place} + 1) * {piece}, {trips});",
            *unrolling,
            f"for (long {number} = {before}{place} * {piece}; {number} < {end}; {number}{f' += {width}' if several else '++'}) {{",
        ]
    return [*unrolling, f"for (long {number} = {before}{first}; {number} < {trips}; {number} += {step}) {{"]


def declarations(plan: KernelPlan, indent: str, names: Set[str] | None = None) -> list[str]:
    """The declarations of indices and of an item's own scalars; of those in `names`, if given."""
    axes = [axis for axis in plan.axes if counter(axis, plan) != device_name(axis.index)]
    found = [(axis.index, index_declared(axis, counter(axis, plan))) for axis in axes]
    found += [(name, f"{device_type(kind)} {device_name(name)};") for name, kind in plan.private]
    return [f"{indent}{text}" for name, text in found if names is None or name in names]


def statement_lines(node: Node, types: Types, indent: str) -> list[str]:
    """A statement of the body in OpenCL C."""
    return emit(device_statement(node, types), indent=indent, braces=True).splitlines()


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
