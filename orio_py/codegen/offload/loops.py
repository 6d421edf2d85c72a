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

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import reduce

from orio_py.codegen.device import is_narrow
from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import GroupBarrier, Query, WorkItem, linear
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.ctree.build import (
    add,
    as_long,
    assign,
    binary,
    block,
    call,
    cast_to,
    declare,
    for_,
    ident,
    if_,
    literal_value,
    mul,
    unary,
)
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import begin_name, from_name, place_name, start_name, trips_name
from orio_py.kernel.plan import Axis, AxisBinding, Distribution, KernelPlan, Role
from orio_py.kernel.types import device_type

Layer = Callable[[list[Node]], list[Node]]
"""What stands around statements: it is given those and answers with them inside."""


def nested(layers: Sequence[Layer], body: Sequence[Node]) -> list[Node]:
    """Statements inside layers, the first of which is the outermost."""
    return reduce(lambda inner, layer: layer(inner), reversed(layers), list(body))


def before(*items: Node) -> Layer:
    """Statements in front, in the same block."""
    return lambda body: [*items, *body]


def guarded(condition: Node) -> Layer:
    """`if (condition) { … }`."""
    return lambda body: [if_(condition, block(*body))]


def counted(name: str, first: Node, last: Node, step: Node | int, *, kind: str = "long") -> Layer:
    """`for (kind name = first; name < last; name += step) { … }`."""
    advance = unary("p++", ident(name)) if step == 1 else assign(name, step, "+=")
    header = declare(kind, name, first), binary("<", ident(name), last), advance
    return lambda body: [for_(*header, block(*body))]


def unrolled(factor: int | None, layer: Layer) -> Layer:
    """The loop behind the pragma that asks for an unroll factor, None for none."""
    if factor is None:
        return layer
    return lambda body: [c_ast.Pragma(f"unroll {factor}"), *layer(body)]


def strided(kernel: Kernel, layer: Layer, factor: int | None = None) -> Layer:
    """A loop whose stride is known at run time, unrolled only by a factor that was asked for."""
    return unrolled(1 if factor is None and kernel.features.divides_to_unroll else factor, layer)


def query(plan: KernelPlan, what: Query, dimension: int) -> WorkItem:
    """An item's place along a dimension of the plan's launch."""
    return WorkItem(what, dimension, plan.launch.block_size[dimension])


def item_number(plan: KernelPlan) -> Node:
    """The number of an item in its group, counted over all dimensions, the first fastest."""
    sizes = plan.launch.block_size
    slower = range(len(sizes) - 2, -1, -1)
    ids = [query(plan, Query.LOCAL_ID, d) for d in slower]
    return linear(query(plan, Query.LOCAL_ID, len(sizes) - 1), [sizes[d] for d in slower], [*ids])


def group_number(plan: KernelPlan) -> Node:
    """The number of a group, counted likewise."""
    dimensions = len(plan.launch.block_size)
    slower = range(dimensions - 2, -1, -1)
    first: Node = query(plan, Query.GROUP_ID, dimensions - 1)
    counts: list[Node | int] = [query(plan, Query.GROUP_COUNT, d) for d in slower]
    numbers: list[Node] = [query(plan, Query.GROUP_ID, d) for d in slower]
    return linear(first if dimensions == 1 else as_long(first), counts, numbers)


def dimensions_of(plan: KernelPlan) -> list[tuple[Axis, int]]:
    """The axes, slowest first, with their dimensions of the launch."""
    return [(axis, len(plan.axes) - 1 - level) for level, axis in enumerate(plan.axes)]


def iterations(kernel: Kernel, body: Sequence[Node]) -> list[Node]:
    """`body` for each iteration of an item."""
    plan = kernel.plan
    if plan.staged:
        return _staged(kernel, body)
    return nested(_bound_loops(kernel) if plan.launch.bindings else _item_loops(kernel), body)


@dataclass(frozen=True, slots=True)
class Steps:
    """How the items of a group go through its steps together: what each step is in, and how it begins.

    `stores` write tiles back and `several` are the dimensions in which an item does more than one iteration of a step.
    """

    layers: tuple[Layer, ...]
    loads: tuple[Node, ...]
    stores: tuple[Node, ...]
    several: tuple[int, ...]
    is_looped: bool


def steps_of(kernel: Kernel) -> Steps:
    """The places of an item, the loops over a group's steps, and the tiles that each step loads."""
    plan = kernel.plan
    dimensions = dimensions_of(plan)
    several = tuple(d for _, d in dimensions if plan.launch.step[d] > plan.launch.block_size[d])
    places = [
        declare("const int", place_name(a), query(plan, Query.LOCAL_ID, d))
        for a, d in dimensions
        if d not in several and (plan.march is None or a is not plan.axes[0])
    ]
    item = [declare("const int", "orio_item", item_number(plan))] if plan.staged else []
    layers = [before(*item, *([] if plan.launch.register_tile else places))]
    loops = [d for a, d in dimensions if _is_looped(plan, a, d)]
    for level, (axis, d) in enumerate(dimensions):
        begin, width = begin_name(axis), plan.launch.step[d]
        first = _behind(plan, level, mul(as_long(query(plan, Query.GROUP_ID, d)), width))
        step = mul(as_long(query(plan, Query.GROUP_COUNT, d)), width)
        if d in loops:
            layers.append(strided(kernel, counted(begin, first, ident(trips_name(axis)), step)))
        else:
            layers.append(before(declare("const long", begin, first)))
    stores = [device_statement(node, kernel) for tile in plan.staged for node in tile.store]
    ends = (GroupBarrier(), *stores) if stores else ()
    return Steps(tuple(layers), tuple(loads(kernel, None)), ends, several, bool(loops))


def loads(kernel: Kernel, block_number: int | None, *, whole: bool = False) -> list[Node]:
    """The statements that fill the tiles of a block, or of a step, and the barrier behind them; perhaps none.

    `whole` says that no iteration of the block is missing in the group.
    """
    found = [
        device_statement(node, kernel)
        for tile in kernel.plan.staged
        if tile.block == block_number
        for node in (whole and tile.whole) or tile.load
    ]
    return [*found, GroupBarrier()] if found else []


def place_loops(plan: KernelPlan, several: Sequence[int]) -> list[Layer]:
    """The loops over the iterations of an item in one step of its group, one for each of `several`."""
    layers = [
        counted(
            place_name(axis),
            query(plan, Query.LOCAL_ID, d),
            c_ast.Constant("int", str(plan.launch.step[d])),
            c_ast.Constant("int", str(plan.launch.block_size[d])),
            kind="int",
        )
        for axis, d in dimensions_of(plan)
        if d in several
    ]
    return [*layers[:-1], *(unrolled(plan.unroll, layer) for layer in layers[-1:])]


def inside(plan: KernelPlan) -> Node | None:
    """The test whether an item has an iteration, None where each has one."""
    return inside_of(plan, plan.axes)


def inside_of(plan: KernelPlan, axes: Sequence[Axis]) -> Node | None:
    """The same along some axes."""
    tests = [
        _has_iteration(a, plan) for a, d in dimensions_of(plan) if a in axes and not is_filled(plan, a, d)
    ]
    return _all(tests) if tests else None


def counters(plan: KernelPlan) -> list[Node]:
    """The declarations of the iterations' numbers."""
    return [
        declare("const long", counter(a, plan), binary("+", ident(begin_name(a)), ident(place_name(a))))
        for a in plan.axes
    ]


def _has_iteration(axis: Axis, plan: KernelPlan) -> Node:
    return binary("<", ident(counter(axis, plan)), ident(trips_name(axis)))


def _all(tests: Sequence[Node]) -> Node:
    return reduce(lambda one, two: binary("&&", one, two), tests)


def _staged(kernel: Kernel, body: Sequence[Node]) -> list[Node]:
    """Load the tiles, then do an iteration if there is one, for each step of the group."""
    plan, steps = kernel.plan, steps_of(kernel)
    inner = nested([*place_loops(plan, steps.several), before(*counters(plan)), *tested(plan)], body)
    waits = [GroupBarrier()] if steps.is_looped else []
    return nested(steps.layers, [*steps.loads, *inner, *steps.stores, *waits])


def tested(plan: KernelPlan) -> list[Layer]:
    """The test of `inside`, if there is one."""
    test = inside(plan)
    return [] if test is None else [guarded(test)]


def _is_looped(plan: KernelPlan, axis: Axis, dimension: int) -> bool:
    """Whether an item, or a group that has tiles, may do several steps along a dimension."""
    launch = plan.launch
    if launch.grid_size is not None or plan.coarsen > 1:
        return True
    if launch.most_groups is None or dimension == 0:
        return False
    trips = literal_value(axis.trips)
    return trips is None or trips > launch.most_groups[dimension] * launch.step[dimension]


def is_filled(plan: KernelPlan, axis: Axis, dimension: int) -> bool:
    """Whether the iterations of an axis fill all of its groups."""
    trips = literal_value(axis.trips)
    is_cut = plan.options.streams > 1 and axis is plan.axes[0]
    return trips is not None and not is_cut and trips % plan.launch.step[dimension] == 0


def _item_loops(kernel: Kernel) -> list[Layer]:
    """What stands around the iterations of an item: a loop for each axis that needs one, and a test of the others."""
    plan = kernel.plan
    layers: list[Layer] = []
    tests: list[Node] = []
    for level, (axis, dimension) in enumerate(dimensions_of(plan)):
        if _is_looped(plan, axis, dimension):
            layers.append(_loop(kernel, axis, dimension, level))
            continue
        first = _behind(plan, level, _first(plan, axis, dimension))
        layers.append(before(declare(f"const {counter_kind(axis, plan)}", counter(axis, plan), first)))
        if not is_filled(plan, axis, dimension):
            tests.append(_has_iteration(axis, plan))
    if not tests or (plan.launch.driver_chosen and plan.launch.vector == 1):
        return layers  # With groups of the driver's there are as many items as iterations.
    return [*layers, guarded(_all(tests))]


def _bound_loops(kernel: Kernel) -> list[Layer]:
    """The same where each axis has a dimension of its own: a loop over what is left to a group or an item."""
    plan = kernel.plan
    layers: list[Layer] = []
    for axis, binding in zip(plan.axes, plan.launch.bindings, strict=True):
        number, kind, d = counter(axis, plan), counter_kind(axis, plan), binding.dimension
        by_groups = binding.role is Role.GROUPS
        first = query(plan, Query.GROUP_ID if by_groups else Query.LOCAL_ID, d)
        if has_one(axis, binding, plan):
            layers.append(before(declare(f"const {kind}", number, first)))
            continue
        size = c_ast.Constant("int", str(plan.launch.block_size[d]))
        step = query(plan, Query.GROUP_COUNT, d) if by_groups else size
        layer = counted(number, first, ident(trips_name(axis)), step, kind=kind)
        layers.append(strided(kernel, layer) if by_groups else layer)
    return layers


def has_one(axis: Axis, binding: AxisBinding, plan: KernelPlan) -> bool:
    """Whether each group, or each item, has exactly one iteration of an axis, whatever its number."""
    trips, place = literal_value(axis.trips), binding.dimension
    if binding.role is Role.ITEMS:
        return trips == plan.launch.block_size[place]
    most = plan.launch.most_groups
    return place == 0 or most is None or (trips is not None and trips <= most[place])


def _behind(plan: KernelPlan, level: int, number: Node) -> Node:
    """A number of an axis's iterations behind those before the slice that a queue runs."""
    is_cut = level == 0 and plan.options.streams > 1
    return binary("+", ident(from_name(plan.axes[0])), number) if is_cut else number


def _loop(kernel: Kernel, axis: Axis, dimension: int, level: int) -> Layer:
    """Each item does every iteration that is its own."""
    plan = kernel.plan
    width = plan.launch.vector if dimension == 0 else 1
    if dimension == 0 and plan.spread is Distribution.BLOCKED:
        return _piece(plan, axis, level)
    step: Node = WorkItem(
        Query.GLOBAL_SIZE, dimension, plan.launch.block_size[dimension], is_narrow(axis, plan)
    )
    if width > 1:
        step = mul(step if is_narrow(axis, plan) else as_long(step), width)
    first = _behind(plan, level, _first(plan, axis, dimension))
    layer = counted(counter(axis, plan), first, ident(trips_name(axis)), step, kind=counter_kind(axis, plan))
    return strided(kernel, layer, plan.unroll if dimension == 0 else None)


def _piece(plan: KernelPlan, axis: Axis, level: int) -> Layer:
    """Each item does a contiguous piece of the fastest axis."""
    number, trips, width = counter(axis, plan), ident(trips_name(axis)), plan.launch.vector
    piece, end = ident(f"orio_piece_{axis.index}"), ident(f"orio_end_{axis.index}")
    size = mul(as_long(query(plan, Query.GLOBAL_SIZE, 0)), width)
    place = as_long(query(plan, Query.GLOBAL_ID, 0))
    is_cut = level == 0 and plan.options.streams > 1
    length = binary("-", trips, ident(from_name(axis))) if is_cut else trips
    length = mul(binary("/", binary("-", binary("+", length, size), 1), size), width)
    last = _behind(plan, level, mul(add(place, 1), piece))
    loop = counted(number, _behind(plan, level, mul(place, piece)), end, width)
    declarations = (
        declare("const long", piece.name, length),
        declare("const long", end.name, call("min", last, trips)),
    )
    return lambda body: [*declarations, *unrolled(plan.unroll, loop)(body)]


def declarations(kernel: Kernel, names: Set[str] | None = None) -> list[Node]:
    """The declarations of indices and of an item's own scalars; of those in `names`, if given."""
    plan = kernel.plan
    axes = [axis for axis in plan.axes if counter(axis, plan) != device_name(axis.index)]
    found: list[tuple[str, Node]] = [
        (axis.index, index_declared(axis, ident(counter(axis, plan)))) for axis in axes
    ]
    found += [(name, declare(device_kind(kind), device_name(name))) for name, kind in plan.private]
    wanted = used_names(plan.body) if names is None else names
    return [node for name, node in found if name in wanted]


def _first(plan: KernelPlan, axis: Axis, dimension: int) -> Node:
    """The number of an item's first iteration along a dimension: it does as many as there are lanes."""
    narrow = is_narrow(axis, plan)
    place = WorkItem(Query.GLOBAL_ID, dimension, plan.launch.block_size[dimension], narrow)
    several = dimension == 0 and plan.launch.vector > 1
    return mul(place if narrow else as_long(place), plan.launch.vector) if several else place


def counter_kind(axis: Axis, plan: KernelPlan) -> str:
    """The type of the iteration's number."""
    return "uint" if is_narrow(axis, plan) else "long"


def counter(axis: Axis, plan: KernelPlan) -> str:
    """The name of the iteration's number: the index itself where that is the same."""
    lanes = plan.lanes is not None and axis is plan.axes[-1]
    plain = literal_value(axis.start) == 0 and axis.stride == 1 and not lanes
    same = plain and device_type(axis.type) == "long"
    return device_name(axis.index) if same else f"orio_{axis.index}"


def index_declared(axis: Axis, number: Node) -> Node:
    """The declaration of the loop's index in the iteration of a number."""
    kind, value = device_kind(axis.type), literal_value(axis.start)
    steps = mul(abs(axis.stride), number)
    if value == 0 and axis.upward:
        index = steps
    else:
        start = ident(start_name(axis)) if value is None else value
        index = binary("+" if axis.upward else "-", start, steps)
    return declare(f"const {kind}", device_name(axis.index), cast_to(kind, index))
