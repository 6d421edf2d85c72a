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
from orio_py.codegen.offload.body import device_statement
from orio_py.codegen.offload.dialect import Kernel
from orio_py.ctree.build import literal_value
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import begin_name, from_name, place_name, start_name, trips_name
from orio_py.kernel.plan import Axis, AxisBinding, Distribution, KernelPlan, Role
from orio_py.kernel.types import device_type


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


def blocks_around(kernel: Kernel) -> Blocks:
    """What stands around the body."""
    if kernel.plan.staged:
        return _staged(kernel)
    opening, depth = _placed_opening(kernel) if kernel.plan.launch.bindings else _opening(kernel)
    closing = tuple(f"{'  ' * (level + 1)}}}" for level in reversed(range(depth)))
    return Blocks(tuple(opening), closing, depth)


def dimensions_of(plan: KernelPlan) -> list[tuple[Axis, int]]:
    """The axes, slowest first, with their dimensions of the launch."""
    return [(axis, len(plan.axes) - 1 - level) for level, axis in enumerate(plan.axes)]


def steps_of(kernel: Kernel) -> Steps:
    """The places of an item, the loops over a group's steps, and the tiles that each step loads."""
    plan, dialect = kernel.plan, kernel.dialect
    dimensions = dimensions_of(plan)
    lines = [f"  const int orio_item = {dialect.item_number(plan.launch)};"]
    several = tuple(d for _, d in dimensions if plan.launch.step[d] > plan.launch.block_size[d])
    lines += [
        f"  const int {place_name(a)} = {dialect.local_id(d)};" for a, d in dimensions if d not in several
    ]
    depth = 0
    for level, (axis, dimension) in enumerate(dimensions):
        begin, width = begin_name(axis), plan.launch.step[dimension]
        first = f"long {begin} = {_behind(plan, level)}(long){dialect.group_id(dimension)} * {width}"
        step = f"{begin} += (long){dialect.group_count(dimension)} * {width}"
        if _is_looped(plan, dimension):
            lines.append(f"{'  ' * (depth + 1)}for ({first}; {begin} < {trips_name(axis)}; {step}) {{")
            depth += 1
        else:
            lines.append(f"{'  ' * (depth + 1)}const {first};")
    steps = Steps(tuple(lines), depth, several)
    return replace(steps, lines=(*lines, *loads(kernel, None, steps.indent)))


def loads(kernel: Kernel, block: int | None, indent: str) -> list[str]:
    """The statements that fill the tiles of a block, or of a step, and the barrier behind them; perhaps none."""
    lines: list[str] = []
    for tile in kernel.plan.staged:
        for node in tile.load if tile.block == block else ():
            lines += statement_lines(node, kernel, indent)
    return [*lines, f"{indent}{kernel.dialect.barrier}"] if lines else []


def place_loops(kernel: Kernel, several: Sequence[int], indent: str) -> list[str]:
    """The heads of the loops over the iterations of an item in one step of its group, one for each of `several`."""
    plan = kernel.plan
    lines: list[str] = []
    chosen = [(axis, dimension) for axis, dimension in dimensions_of(plan) if dimension in several]
    for level, (axis, dimension) in enumerate(chosen):
        place, last, inner = place_name(axis), plan.launch.step[dimension], indent + "  " * level
        first = f"int {place} = {kernel.dialect.local_id(dimension)}"
        step = f"{place} += {plan.launch.block_size[dimension]}"
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


def _staged(kernel: Kernel) -> Blocks:
    """Load the tiles, then do an iteration if there is one, for each step of the group."""
    plan = kernel.plan
    steps = steps_of(kernel)
    places = place_loops(kernel, steps.several, steps.indent)
    inner = steps.indent + "  " * len(steps.several)
    opening = (*steps.lines, *places, *counters(plan, inner), f"{inner}if ({inside(plan)}) {{")
    closing = [f"{steps.indent}{'  ' * level}}}" for level in reversed(range(len(steps.several) + 1))]
    closing += [f"{steps.indent}{kernel.dialect.barrier}"] if steps.depth else []
    closing += [f"{'  ' * (level + 1)}}}" for level in reversed(range(steps.depth))]
    return Blocks(opening, tuple(closing), steps.depth + len(steps.several) + 1)


def _is_looped(plan: KernelPlan, dimension: int) -> bool:
    """Whether an item, or a group that has tiles, may do several steps along a dimension."""
    launch = plan.launch
    return (
        launch.grid_size is not None or plan.coarsen > 1 or (launch.most_groups is not None and dimension > 0)
    )


def _opening(kernel: Kernel) -> tuple[list[str], int]:
    """The lines that open the blocks around the body, and how many blocks those are."""
    plan = kernel.plan
    lines: list[str] = []
    tests: list[str] = []
    depth = 0
    for level, (axis, dimension) in enumerate(dimensions_of(plan)):
        indent, before = "  " * (depth + 1), _behind(plan, level)
        if _is_looped(plan, dimension):
            lines += [f"{indent}{line}" for line in _loop(kernel, axis, dimension, before)]
            depth += 1
        else:
            lines.append(f"{indent}const long {counter(axis, plan)} = {before}{_first(kernel, dimension)};")
            tests.append(f"{counter(axis, plan)} < {trips_name(axis)}")
    if not tests or (plan.launch.driver_chosen and plan.launch.vector == 1):
        return lines, depth  # With groups of the driver's there are as many items as iterations.
    return [*lines, f"{'  ' * (depth + 1)}if ({' && '.join(tests)}) {{"], depth + 1


def _placed_opening(kernel: Kernel) -> tuple[list[str], int]:
    """The same where each axis has a dimension of its own: a loop over what is left to a group or an item."""
    plan, dialect = kernel.plan, kernel.dialect
    lines: list[str] = []
    depth = 0
    for axis, placement in zip(plan.axes, plan.launch.bindings, strict=True):
        number, place = counter(axis, plan), placement.dimension
        by_groups = placement.role is Role.GROUPS
        first = dialect.group_id(place) if by_groups else dialect.local_id(place)
        indent = "  " * (depth + 1)
        if has_one(axis, placement, plan):
            lines.append(f"{indent}const long {number} = {first};")
            continue
        step = dialect.group_count(place) if by_groups else plan.launch.block_size[place]
        lines.append(
            f"{indent}for (long {number} = {first}; {number} < {trips_name(axis)}; {number} += {step}) {{"
        )
        depth += 1
    return lines, depth


def has_one(axis: Axis, placement: AxisBinding, plan: KernelPlan) -> bool:
    """Whether each group, or each item, has exactly one iteration of an axis, whatever its number."""
    trips, place = literal_value(axis.trips), placement.dimension
    if placement.role is Role.ITEMS:
        return trips == plan.launch.block_size[place]
    most = plan.launch.most_groups
    return place == 0 or most is None or (trips is not None and trips <= most[place])


def _behind(plan: KernelPlan, level: int) -> str:
    """What an axis adds to the numbers of its iterations: those before the slice that a queue runs."""
    return f"{from_name(plan.axes[0])} + " if level == 0 and plan.options.streams > 1 else ""


def _loop(kernel: Kernel, axis: Axis, dimension: int, before: str) -> list[str]:
    """Each item does every iteration that is its own, counted behind those `before`."""
    plan, dialect, launch = kernel.plan, kernel.dialect, kernel.plan.launch
    number, trips = counter(axis, plan), trips_name(axis)
    first = _first(kernel, dimension)
    step = dialect.global_size(dimension, launch, launch.vector if dimension == 0 else 1)
    unrolling = _unrolling(plan) if dimension == 0 else []
    if dimension == 0 and plan.spread is Distribution.BLOCKED:
        length = f"{trips} - {before.removesuffix(' + ')}" if before else trips
        piece, end = f"orio_piece_{axis.index}", f"orio_end_{axis.index}"
        size, place = _long(dialect.global_size(0, launch)), _long(dialect.global_id(0, launch))
        width = launch.vector
        several = "" if width == 1 else f" * {width}"
        whole = size if width == 1 else f"{size} * {width}"
        return [
            f"const long {piece} = ({length} + {whole} - 1) / {f'({whole})' if several else whole}{several};",
            f"const long {end} = min({before}({place} + 1) * {piece}, {trips});",
            *unrolling,
            f"for (long {number} = {before}{place} * {piece}; {number} < {end}; {number}{f' += {width}' if several else '++'}) {{",
        ]
    return [*unrolling, f"for (long {number} = {before}{first}; {number} < {trips}; {number} += {step}) {{"]


def declarations(kernel: Kernel, indent: str, names: Set[str] | None = None) -> list[str]:
    """The declarations of indices and of an item's own scalars; of those in `names`, if given."""
    plan = kernel.plan
    axes = [axis for axis in plan.axes if counter(axis, plan) != device_name(axis.index)]
    found = [(axis.index, index_declared(axis, counter(axis, plan), kernel)) for axis in axes]
    found += [(name, f"{type_text(kind, kernel)} {device_name(name)};") for name, kind in plan.private]
    wanted = used_names(plan.body) if names is None else names
    return [f"{indent}{text}" for name, text in found if name in wanted]


def statement_lines(node: Node, kernel: Kernel, indent: str) -> list[str]:
    """A statement of the body in the kernel's language."""
    return emit(device_statement(node, kernel), indent=indent, braces=True).splitlines()


def type_text(text: str, kernel: Kernel) -> str:
    """A C type in the kernel's language."""
    kind = device_type(text)
    assert kind is not None, f"no device type for {text}"
    return kernel.dialect.type_name(kind)


def _first(kernel: Kernel, dimension: int) -> str:
    """The number of an item's first iteration along a dimension: it does as many as there are lanes."""
    launch = kernel.plan.launch
    text = kernel.dialect.global_id(dimension, launch)
    return f"{_long(text)} * {launch.vector}" if dimension == 0 and launch.vector > 1 else text


def _long(text: str) -> str:
    """A number as a `long`, to be multiplied."""
    return f"({text})" if " " in text else f"(long){text}"


def counter(axis: Axis, plan: KernelPlan) -> str:
    """The name of the iteration's number: the index itself where that is the same."""
    lanes = plan.lanes is not None and axis is plan.axes[-1]
    plain = literal_value(axis.start) == 0 and axis.stride == 1 and not lanes
    same = plain and device_type(axis.type) == "long"
    return device_name(axis.index) if same else f"orio_{axis.index}"


def index_declared(axis: Axis, number: str, kernel: Kernel) -> str:
    """The declaration of the loop's index in the iteration of a number."""
    kind, value = type_text(axis.type, kernel), literal_value(axis.start)
    start = str(value) if value is not None else start_name(axis)
    size = abs(axis.stride)
    steps = number if size == 1 else f"{size} * {number}"
    if start == "0" and axis.stride > 0:
        index = steps if size == 1 else f"({steps})"
    else:
        index = f"({start} {'+' if axis.stride > 0 else '-'} {steps})"
    return f"const {kind} {device_name(axis.index)} = ({kind}){index};"
