"""How the lanes of an item, the items of a group, and its warps combine their values of a reduction.

Values go from item to item by shuffles where groups are made of whole warps, then from warp to warp through the
memory of the group, always in the same order; elsewhere through the memory of the group alone.

Sources: for the order M. Harris, "Optimizing parallel reduction in CUDA", 2007; CUDA C++ Programming Guide, chapter 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import (
    DeviceFeatures,
    GroupArray,
    GroupBarrier,
    Shuffle,
    VectorOp,
    VectorOperation,
)
from orio_py.codegen.offload.loops import group_number, guarded, item_number
from orio_py.codegen.offload.statements import Kernel
from orio_py.codegen.offload.vectors import lanes_name
from orio_py.ctree.build import (
    assign,
    binary,
    block,
    call,
    cast_to,
    const,
    declare,
    for_,
    ident,
    index,
    ternary,
    unary,
)
from orio_py.ctree.nodes import Comment, Node
from orio_py.kernel.call import FIRST_GROUP
from orio_py.kernel.plan import KernelPlan, ReductionPlan
from orio_py.kernel.types import device_type

_COMBINED = frozenset({"+", "*", "&", "|", "^"})
_BITWISE = {"&&": "&", "||": "|"}
_ITEM, _GROUP = ident("orio_item"), ident("orio_group")


def values_declared(plan: KernelPlan) -> list[Node]:
    """The values that an item begins with."""
    return [declare(_kind(r), device_name(r.name), _identity(r)) for r in plan.reductions]


def lanes_declared(kernel: Kernel) -> list[Node]:
    """The vectors in which the lanes of an item collect their values."""
    width = kernel.plan.launch.vector
    kinds = [(r, f"{_kind(r)}{width}") for r in kernel.plan.reductions]
    return [declare(kind, lanes_name(device_name(r.name)), cast_to(kind, _identity(r))) for r, kind in kinds]


def lanes_merged(kernel: Kernel) -> list[Node]:
    """The item's value with those of its lanes, halves of the vector first."""
    items: list[Node] = []
    for reduction in kernel.plan.reductions:
        kind, lanes = _kind(reduction), lanes_name(device_name(reduction.name))
        value, width = lanes, kernel.plan.launch.vector
        while width > 2:
            parts = _halves(value, kind, width)
            width //= 2
            value = f"{lanes}_{width}"
            items.append(declare(f"const {kind}{width}", value, joined(reduction, *parts)))
        own = ident(device_name(reduction.name))
        items += [merged(reduction, own, half) for half in _halves(value, kind, 2)]
    return items


def _halves(vector: str, kind: str, width: int) -> list[Node]:
    return [VectorOperation(op, kind, width, ident(vector)) for op in (VectorOp.LOWER, VectorOp.UPPER)]


def groups_merged(plan: KernelPlan, features: DeviceFeatures) -> list[Node]:
    """One value of each group, from those of its items."""
    if not plan.reductions:
        return []
    items = prod(plan.launch.block_size)
    own = [] if plan.staged else [declare("const int", "orio_item", item_number(plan))]
    if has_whole_warps(items, features):
        merging, value_of = _by_shuffles(plan.reductions, items // features.warp, features), _own
    else:
        merging, value_of = _by_memory(plan.reductions, items, features), _first_element
    return [*own, *merging, *guarded(binary("==", _ITEM, 0))(_partials(plan, value_of))]


def row_arrays(reductions: Sequence[ReductionPlan], items: int, features: DeviceFeatures) -> list[Node]:
    """The memory of a group through which its items combine their values in an iteration that they do together."""
    count = items // features.warp if has_whole_warps(items, features) else items
    return [GroupArray(_kind(r), local_name(r), count) for r in reductions]


def has_whole_warps(items: int, features: DeviceFeatures) -> bool:
    """Whether values can go from item to item in warps."""
    return bool(features.warp) and items % features.warp == 0


def row_merged(
    reductions: Sequence[ReductionPlan],
    items: int,
    features: DeviceFeatures,
    before: Callable[[ReductionPlan], Node],
) -> list[Node]:
    """In every item the value from `before` a loop with the values of all items, and room for the next ones."""
    first: list[Node] = [assign(index(local_name(r), 0), _own(r)) for r in reductions]
    if has_whole_warps(items, features):
        merging = _by_shuffles(reductions, items // features.warp, features)
        merging += [*guarded(binary("==", _ITEM, 0))(first), GroupBarrier()]
    else:
        merging = _by_memory(reductions, items, features)
    return [
        *(node for node in merging if not isinstance(node, GroupArray)),
        *(assign(_own(r), _first_element(r)) for r in reductions),
        *(merged(r, _own(r), before(r)) for r in reductions),
        GroupBarrier(),
    ]


def neutral(reduction: ReductionPlan) -> Node:
    """The value that an item begins with."""
    return _identity(reduction)


def _partials(plan: KernelPlan, value_of: Callable[[ReductionPlan], Node]) -> list[Node]:
    number = group_number(plan)
    if plan.options.streams > 1:
        number = binary("+", ident(FIRST_GROUP), number)
    stores = [assign(index(f"orio_partials_{r.name}", _GROUP), value_of(r)) for r in plan.reductions]
    return [declare("const long", _GROUP.name, number), *stores]


def _own(reduction: ReductionPlan) -> Node:
    return ident(device_name(reduction.name))


def local_name(reduction: ReductionPlan) -> str:
    """The array of a group through which its items combine their values."""
    return f"orio_local_{reduction.name}"


def _first_element(reduction: ReductionPlan) -> Node:
    return index(local_name(reduction), 0)


def _by_memory(reductions: Sequence[ReductionPlan], items: int, features: DeviceFeatures) -> list[Node]:
    """In a tree: `orio_width` values that are left become half as many."""
    width, half = ident("orio_width"), ident("orio_half")
    half_up = binary("/", binary("+", width, 1), 2)
    merging = [
        merged(r, index(local_name(r), _ITEM), index(local_name(r), binary("+", _ITEM, half)))
        for r in reductions
    ]
    step = [
        declare("const int", half.name, half_up),
        *guarded(binary("<", _ITEM, binary("/", width, 2)))(merging),
        GroupBarrier(),
    ]
    loop = for_(
        declare("int", width.name, items), binary(">", width, 1), assign(width, half_up), block(*step)
    )
    return [
        Comment(f"/* One value of each {features.item}, then one of the {features.group}. */"),
        *(GroupArray(_kind(r), local_name(r), items) for r in reductions),
        *(assign(index(local_name(r), _ITEM), _own(r)) for r in reductions),
        GroupBarrier(),
        loop,
    ]


def _by_shuffles(reductions: Sequence[ReductionPlan], warps: int, features: DeviceFeatures) -> list[Node]:
    """In a tree in each warp, then in one warp over the values of all warps."""
    warp = features.warp
    within = _shuffles(reductions)(warp // 2)
    if warps == 1:
        return [Comment("/* One value of each warp. */"), within]
    place = binary("/", _ITEM, warp)
    widest = 1 << (warps - 1).bit_length()
    is_first = binary("==", binary("%", _ITEM, warp), 0)
    taken: list[Node] = [
        assign(
            _own(r),
            ternary(binary("<", _ITEM, warps), index(local_name(r), _ITEM), cast_to(_kind(r), _identity(r))),
        )
        for r in reductions
    ]
    return [
        Comment(f"/* One value of each warp, then one of the {features.group}. */"),
        within,
        *(GroupArray(_kind(r), local_name(r), warps) for r in reductions),
        *guarded(is_first)([assign(index(local_name(r), place), _own(r)) for r in reductions]),
        GroupBarrier(),
        *guarded(binary("<", _ITEM, warp))([*taken, _shuffles(reductions)(widest // 2)]),
    ]


def _shuffles(reductions: Sequence[ReductionPlan]) -> Callable[[int], Node]:
    distance = ident("orio_distance")

    def loop(first: int) -> Node:
        body: list[Node] = []
        for r in reductions:
            other = ident(f"orio_other_{r.name}")
            body.append(declare(f"const {_kind(r)}", other.name, Shuffle(_own(r), distance)))
            body.append(merged(r, _own(r), other))
        header = declare("int", distance.name, first), binary(">", distance, 0), assign(distance, 2, "/=")
        return for_(*header, block(*body))

    return loop


def merged(reduction: ReductionPlan, mine: Node, other: Node) -> Node:
    """The statement that takes another value into one."""
    operator = reduction.operator
    if operator in _COMBINED:
        return assign(mine, other, f"{operator}=")
    if operator in _BITWISE:
        return assign(mine, binary(operator, mine, other))
    return assign(mine, joined(reduction, mine, other))


def joined(reduction: ReductionPlan, one: Node, two: Node) -> Node:
    """Two values, or two vectors, in one; truth values are 0 or 1 in each lane."""
    operator = reduction.operator
    if operator in {"min", "max"}:
        return call(f"f{operator}" if _kind(reduction) in {"float", "double"} else operator, one, two)
    return binary(_BITWISE.get(operator, operator), one, two)


def _identity(reduction: ReductionPlan) -> Node:
    text = reduction.identity
    if text[0] in "-~":
        return unary(text[0], _limit(text[1:]))
    return _limit(text)


def _limit(text: str) -> Node:
    return const(int(text)) if text.isdigit() else ident(text)


def _kind(reduction: ReductionPlan) -> str:
    return device_type(reduction.type) or "int"
