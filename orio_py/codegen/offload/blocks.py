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

from orio_py.codegen.offload.device_tree import GroupBarrier
from orio_py.codegen.offload.loops import (
    Steps,
    before,
    counted,
    counters,
    declarations,
    guarded,
    inside,
    loads,
    nested,
    place_loops,
    steps_of,
    tested,
)
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.ctree.build import binary, block, call, cast_to, const, declare, ident, literal_value
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import used_names
from orio_py.kernel.call import begin_name, length_name, start_name, trips_name
from orio_py.kernel.plan import BlockPlan

_INSIDE = "orio_inside"


def blocked_iterations(kernel: Kernel) -> list[Node]:
    """The steps of a group."""
    plan, steps = kernel.plan, steps_of(kernel)
    items = list(steps.loads)
    if not steps.several:
        test = inside(plan)
        items += [*counters(plan), *([] if test is None else [declare("const int", _INSIDE, test)])]
        items += declarations(kernel)
    place = 0
    for number, part in enumerate(plan.blocks):
        items += _guarded(kernel, steps, plan.body[place : part.begin])
        inner = _guarded(kernel, steps, plan.body[part.begin : part.end])
        items.append(block_loop(kernel, part, [*block_step(kernel, number, part, inner), GroupBarrier()]))
        place = part.end
    items += [*_guarded(kernel, steps, plan.body[place:]), *steps.stores]
    if steps.is_looped and any(tile.block is None for tile in plan.staged):
        items.append(GroupBarrier())
    return nested(steps.layers, items)


def _guarded(kernel: Kernel, steps: Steps, nodes: Sequence[Node]) -> list[Node]:
    """Statements for the items that have an iteration, for each of it."""
    if not nodes:
        return []
    body = [device_statement(node, kernel) for node in nodes]
    if not steps.several:
        # Names that these statements declare end with them.
        return [block(*body)] if inside(kernel.plan) is None else nested([guarded(ident(_INSIDE))], body)
    plan = kernel.plan
    layers = [*place_loops(plan, steps.several), before(*counters(plan)), *tested(plan)]
    return nested(layers, [*declarations(kernel, used_names(nodes)), *body])


def block_loop(kernel: Kernel, part: BlockPlan, step: list[Node]) -> Node:
    """The loop over the blocks of a loop, with what is done for each.

    It is in braces of its own as its names may be those of another one.
    """
    axis = part.axis
    begin, trips = ident(begin_name(axis)), ident(trips_name(axis))
    items: list[Node] = []
    if literal_value(axis.start) is None:
        kind = device_kind(axis.type)
        items.append(declare(f"const {kind}", start_name(axis), device_statement(axis.start, kernel)))
    items.append(declare("const long", trips.name, device_statement(axis.trips, kernel)))
    return block(*items, *counted(begin.name, const(0), trips, part.size)(step))


def block_step(kernel: Kernel, number: int, part: BlockPlan, inner: Sequence[Node]) -> list[Node]:
    """The tiles of a block, and `inner` for as many iterations as it has."""
    rest = binary("-", ident(trips_name(part.axis)), ident(begin_name(part.axis)))
    length = call("min", c_ast.Constant("long int", f"{part.size}L"), rest)
    return [
        *loads(kernel, number),
        declare("const int", length_name(part.axis), cast_to("int", length)),
        *inner,
    ]
