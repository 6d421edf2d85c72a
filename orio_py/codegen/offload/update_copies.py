"""Copies of small arrays in local memory, which the items of a group update in place of the arrays.

    __local int orio_own_count[64];
    for (int orio_slot = orio_member; orio_slot < 64; orio_slot += 128)
      orio_own_count[orio_slot] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    …                                                             the iterations
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int orio_slot = orio_member; orio_slot < 64; orio_slot += 128)
      if (orio_own_count[orio_slot] != 0)                         elements that nothing was added to stay as they are
        atomic_add(&count[orio_slot], orio_own_count[orio_slot]);

Source: V. Podlozhnyuk, "Histogram calculation in CUDA", NVIDIA 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.atomics import UNSIGNED, own_copy
from orio_py.codegen.offload.device_tree import AtomicOp, AtomicUpdate, GroupArray, GroupBarrier
from orio_py.codegen.offload.loops import counted, item_number
from orio_py.codegen.offload.reductions import neutral
from orio_py.codegen.offload.statements import device_kind
from orio_py.ctree.build import assign, binary, block, cast_to, declare, ident, if_, index
from orio_py.ctree.nodes import Node, c_ast
from orio_py.kernel.plan import KernelPlan, ReductionPlan, UpdateCopy
from orio_py.kernel.types import identity

_OPERATIONS: Mapping[str, AtomicOp] = {
    "+": AtomicOp.ADD,
    "*": AtomicOp.MULTIPLY,
    "&": AtomicOp.AND,
    "|": AtomicOp.OR,
    "^": AtomicOp.XOR,
    "min": AtomicOp.LEAST,
    "max": AtomicOp.GREATEST,
}
_MEMBER, _SLOT = ident("orio_member"), ident("orio_slot")


def copies_begun(plan: KernelPlan) -> list[Node]:
    """The copies that a group updates, with values that change nothing."""
    if not plan.copies:
        return []
    arrays = [GroupArray(device_kind(c.type), own_copy(c.name), c.elements) for c in plan.copies]
    filled = [_each(c, plan, assign(index(own_copy(c.name), _SLOT), _first(c))) for c in plan.copies]
    return [declare("const int", _MEMBER.name, item_number(plan)), *arrays, *filled, GroupBarrier()]


def copies_merged(plan: KernelPlan) -> list[Node]:
    """The updates of the buffers by what is in the copies."""
    if not plan.copies:
        return []
    return [GroupBarrier(), *(_each(copy, plan, _merged(copy)) for copy in plan.copies)]


def _each(copy: UpdateCopy, plan: KernelPlan, body: Node) -> Node:
    """The loop over the elements that are an item's part."""
    last, items = (c_ast.Constant("int", str(n)) for n in (copy.elements, prod(plan.launch.block_size)))
    (loop,) = counted(_SLOT.name, _MEMBER, last, items, kind="int")([body])
    return loop


def _first(copy: UpdateCopy) -> Node:
    kind = device_kind(copy.type)
    value = neutral(ReductionPlan(copy.name, copy.type, copy.operator, identity(copy.operator, kind)))
    return cast_to(kind, value) if copy.operator == "&" and kind in UNSIGNED.values() else value


def _merged(copy: UpdateCopy) -> Node:
    kind, operation = device_kind(copy.type), _OPERATIONS[copy.operator]
    computed = UNSIGNED.get(kind, kind) if operation is AtomicOp.MULTIPLY else kind
    value = index(own_copy(copy.name), _SLOT)
    target = index(device_name(copy.name), _SLOT)
    given = value if computed == kind else cast_to(computed, value)
    update = AtomicUpdate(operation, computed, target, given, element=kind)
    return if_(binary("!=", value, _first(copy)), block(update))
