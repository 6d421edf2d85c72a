"""Kernels whose groups do an iteration together.

    const int orio_item = get_local_id(0);
    const long orio_i = get_group_id(0);
    …
    const double orio_before_s = s;                          a loop that is shared out
    s = 0;
    for (long orio_j = orio_item; orio_j < orio_trips_j; orio_j += 64) {
      const int j = (int)orio_j;
      s += a[i * m + j] * x[j];
    }
    …                                                        one value of all items, and that from before
    if (orio_item == 0)                                      a statement of the first item
      y[i] = s;

Source: The OpenCL Specification 1.2, section 6.12.8 (all items of a group reach each barrier).
"""

from __future__ import annotations

from math import prod

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import GroupBarrier
from orio_py.codegen.offload.loops import (
    counted,
    declarations,
    guarded,
    index_declared,
    item_number,
    iterations,
    unrolled,
)
from orio_py.codegen.offload.reductions import neutral, row_arrays, row_merged
from orio_py.codegen.offload.scans import scanned
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.ctree.build import as_long, assign, binary, block, declare, ident, literal_value
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, used_names
from orio_py.kernel.call import start_name, trips_name
from orio_py.kernel.phases import FirstItem, GroupWait, SpreadLoop, row_reductions
from orio_py.kernel.plan import ReductionPlan

_ITEM = ident("orio_item")


def row_iterations(kernel: Kernel) -> list[Node]:
    """What the items of a group do in the iterations that are the group's."""
    plan = kernel.plan
    body = block(*(device_statement(node, kernel) for node in plan.body))
    together = _Together(kernel).rewrite(body)
    assert isinstance(together, Compound)
    item = declare("const int", _ITEM.name, item_number(plan))
    arrays = row_arrays(row_reductions(plan.body), prod(plan.launch.block_size), kernel.features)
    return [item, *arrays, *iterations(kernel, [*declarations(kernel), *(together.block_items or [])])]


class _Together(Rewriter):
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def visit_GroupWait(self, node: GroupWait) -> Node:
        del node
        return GroupBarrier(is_global=True)

    def visit_FirstItem(self, node: FirstItem) -> Replacement:
        return guarded(binary("==", _ITEM, 0))([node.stmt])

    def visit_SpreadLoop(self, node: SpreadLoop) -> Node:
        """The loop in braces of its own."""
        plan, axis = self._kernel.plan, node.axis
        items = prod(plan.launch.block_size)
        number = ident(f"orio_{axis.index}")
        body = node.stmt.block_items or []
        has_index = device_name(axis.index) in used_names(body)
        inside = [*([index_declared(axis, number)] if has_index else []), *body]
        if node.value is not None:
            return block(*self._header(node), *scanned(node, self._kernel))
        loop = counted(number.name, as_long(_ITEM), ident(trips_name(axis)), items)
        reductions, features = node.reductions, self._kernel.features
        return block(
            *self._header(node),
            *map(_kept, reductions),
            *(assign(ident(device_name(r.name)), neutral(r)) for r in reductions),
            *unrolled(plan.unroll, loop)(inside),
            *(row_merged(reductions, items, features, _before) if reductions else []),
        )

    def _header(self, node: SpreadLoop) -> list[Node]:
        """The first index, unless that is a number, and the number of iterations."""
        axis = node.axis
        found: list[Node] = [declare("const long", trips_name(axis), axis.trips)]
        if literal_value(axis.start) is None:
            found.insert(0, declare(f"const {device_kind(axis.type)}", start_name(axis), axis.start))
        return found


def _kept(reduction: ReductionPlan) -> Node:
    kind = device_kind(reduction.type)
    return declare(f"const {kind}", _before(reduction).name, ident(device_name(reduction.name)))


def _before(reduction: ReductionPlan) -> c_ast.ID:
    return ident(f"orio_before_{reduction.name}")
