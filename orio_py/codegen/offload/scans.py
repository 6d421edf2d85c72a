"""Scans of a group: the items share out iterations, and each iteration has the running value that it has in C.

    for (long orio_first_j = 0; orio_first_j < orio_trips_j; orio_first_j += 64) {
      const long orio_j = orio_first_j + orio_item;
      const double orio_before_s = s;                        the value before these iterations
      s = 0;
      if (orio_j < orio_trips_j)                             what the item's own iteration adds
        s += x[j];
      double orio_scan_s = s, orio_others_s, orio_all_s;
      …                                                      the values behind it, before it and behind all of these iterations
      if (orio_j < orio_trips_j) {
        s = orio_others_s;  …                                the iteration
      }
      s = orio_all_s;
      …
    }

In a warp values go from item to item by shuffles; one value of each warp goes through the memory of the group.

Sources: W. D. Hillis and G. L. Steele, "Data parallel algorithms", CACM 29(12), 1986; for warps S. Sengupta, M. Harris and
M. Garland, "Efficient parallel scan algorithms for GPUs", NVIDIA Technical Report NVR-2008-003.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import DeviceFeatures, GroupBarrier, Shuffle
from orio_py.codegen.offload.loops import counted, guarded, index_declared
from orio_py.codegen.offload.reductions import has_whole_warps, joined, local_name, neutral
from orio_py.codegen.offload.statements import Kernel, device_kind
from orio_py.ctree.build import (
    assign,
    binary,
    block,
    const,
    declare,
    for_,
    ident,
    if_,
    index,
    statements,
    ternary,
)
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import trips_name
from orio_py.kernel.phases import SpreadLoop, scanned_name
from orio_py.kernel.plan import ReductionPlan

_ITEM, _LANE, _WARP = ident("orio_item"), ident("orio_lane"), ident("orio_warp")
_DISTANCE = ident("orio_distance")


def scanned(loop: SpreadLoop, kernel: Kernel) -> list[Node]:
    """The loop over as many iterations at a time as the group has items."""
    (reduction,) = loop.reductions
    items, axis, kind = prod(kernel.plan.launch.block_size), loop.axis, device_kind(reduction.type)
    names = _Names.of(loop)
    number, first, trips = ident(f"orio_{axis.index}"), ident(f"orio_first_{axis.index}"), trips_name(axis)

    def iteration(body: Node | None, *start: Node) -> Node:
        inner = statements(block() if body is None else body)
        has_index = device_name(axis.index) in used_names(inner)
        declared = [index_declared(axis, number)] if has_index else []
        return if_(binary("<", number, ident(trips)), block(*declared, *start, *inner))

    combine = _by_shuffles if has_whole_warps(items, kernel.features) else _by_memory
    chunk = [
        declare("const long", number.name, binary("+", first, _ITEM)),
        declare(f"const {kind}", names.before.name, names.variable),
        assign(names.variable, neutral(reduction)),
        iteration(loop.value),
        declare(kind, names.value.name, names.variable),
        *combine(reduction, names, items, kernel.features),
        iteration(loop.stmt, *([assign(names.variable, names.others)] if names.takes_others else [])),
        assign(names.variable, names.all),
        GroupBarrier(),
    ]
    return counted(first.name, const(0), ident(trips), items)(chunk)


@dataclass(frozen=True, slots=True)
class _Names:
    """What the values of an item are called: the variable's own, and the running values around an iteration.

    `takes_others` and `takes_value` say whether the iteration needs the one before it, and the one behind it.
    """

    variable: c_ast.ID
    before: c_ast.ID
    value: c_ast.ID
    others: c_ast.ID
    all: c_ast.ID
    takes_others: bool
    takes_value: bool

    @classmethod
    def of(cls, loop: SpreadLoop) -> _Names:
        """Those of a loop's variable."""
        name = loop.reductions[0].name
        own, value = device_name(name), scanned_name(name)
        items = statements(loop.stmt)
        first = next((n for n, item in enumerate(items) if value in used_names([item])), None)
        takes_others = first is None or own in used_names(items[:first])
        return cls(
            ident(own),
            ident(f"orio_before_{name}"),
            ident(value),
            ident(f"orio_others_{name}"),
            ident(f"orio_all_{name}"),
            takes_others,
            first is not None,
        )


def _by_shuffles(reduction: ReductionPlan, names: _Names, items: int, features: DeviceFeatures) -> list[Node]:
    """In each warp in steps of 1, 2, 4, … items, then over the values of all warps, one after the other."""
    warp, warps, kind = features.warp, items // features.warp, device_kind(reduction.type)
    other, number, local = ident(f"orio_other_{reduction.name}"), ident("orio_number"), local_name(reduction)
    step = [
        declare(f"const {kind}", other.name, Shuffle(names.value, _DISTANCE, back=True)),
        *guarded(binary(">=", _LANE, _DISTANCE))(
            [assign(names.value, joined(reduction, other, names.value))]
        ),
    ]
    front = ident(f"orio_front_{reduction.name}")
    over_warps = [
        *guarded(binary("==", number, _WARP))([assign(front, names.all)]),
        assign(names.all, joined(reduction, names.all, index(local, number))),
    ]
    others = ternary(binary("==", _LANE, 0), front, joined(reduction, front, names.others))
    shifted = declare(kind, names.others.name, Shuffle(names.value, const(1), back=True))
    return [
        declare("const int", _LANE.name, binary("%", _ITEM, warp)),
        declare("const int", _WARP.name, binary("/", _ITEM, warp)),
        _doubled(warp, step),
        *([shifted] if names.takes_others else []),
        *guarded(binary("==", _LANE, warp - 1))([assign(index(local, _WARP), names.value)]),
        GroupBarrier(),
        declare(kind, names.all.name, names.before),
        declare(kind, front.name, names.before),
        *counted(number.name, const(0), const(warps), 1, kind="int")(over_warps),
        *([assign(names.others, others)] if names.takes_others else []),
        *([assign(names.value, joined(reduction, front, names.value))] if names.takes_value else []),
    ]


def _by_memory(reduction: ReductionPlan, names: _Names, items: int, features: DeviceFeatures) -> list[Node]:
    """The same for all items of a group, through its memory."""
    del features
    kind, local = device_kind(reduction.type), local_name(reduction)
    other = ident(f"orio_other_{reduction.name}")
    has_other = binary(">=", _ITEM, _DISTANCE)
    step = [
        declare(kind, other.name, neutral(reduction)),
        *guarded(has_other)([assign(other, index(local, binary("-", _ITEM, _DISTANCE)))]),
        GroupBarrier(),
        assign(index(local, _ITEM), joined(reduction, other, index(local, _ITEM))),
        GroupBarrier(),
    ]
    before = guarded(binary(">", _ITEM, 0))(
        [assign(names.others, joined(reduction, names.before, index(local, binary("-", _ITEM, 1))))]
    )
    return [
        assign(index(local, _ITEM), names.value),
        GroupBarrier(),
        _doubled(items, step),
        assign(names.value, joined(reduction, names.before, index(local, _ITEM))),
        *([declare(kind, names.others.name, names.before), *before] if names.takes_others else []),
        declare(f"const {kind}", names.all.name, joined(reduction, names.before, index(local, items - 1))),
    ]


def _doubled(end: int, body: Sequence[Node]) -> Node:
    """A loop over the distances 1, 2, 4, … below an end."""
    header = declare("int", _DISTANCE.name, 1), binary("<", _DISTANCE, end), assign(_DISTANCE, 2, "*=")
    return for_(*header, block(*body))
