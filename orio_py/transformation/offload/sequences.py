"""Regions that are kernels one after the other: their functions for arrays on the device become one.

    orio_cuda_f_0(a, b, t, 16, 16);
    orio_cuda_f_1(t, c, v, 16, 16);         void orio_cuda_f_all_on_device(v, a, b, c, t, stream);

Nothing of the host stands between the kernels then, and they take nothing from it but whole arrays: all numbers are literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from orio_py.ctree.build import literal_value
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Comment, Compound, KernelCall, Node, c_ast
from orio_py.kernel.call import DataBoundary, called_plan, kernel_plans, with_plans
from orio_py.kernel.plan import BufferPlan, KernelPlan, SequencePlan
from orio_py.transformation.base import Context


def in_sequence(node: Node, context: Context) -> Node:
    """The code of a region whose first kernel tells of all of them, where the region is nothing but kernels.

    Arrays stand in the order of their declarations: those of the function, then local ones.
    """
    plans = kernel_plans(node)
    called = list(_calls(node))
    if not plans or [id(plan) for plan in called] != [id(plan) for plan in plans]:
        return node
    if not all(map(_takes_arrays_alone, plans)):
        return node
    declared = list(context.declarations)
    arrays = dict.fromkeys(buffer.name for plan in plans for buffer in plan.buffers)
    ordered = sorted(arrays, key=lambda name: declared.index(name) if name in declared else len(declared))
    sequence = SequencePlan(tuple(plan.name for plan in plans), tuple(ordered))
    return with_plans(node, {id(plans[0]): replace(plans[0], sequence=sequence)})


def _calls(node: Node) -> Iterator[KernelPlan | None]:
    """The kernels that statements call in their order; None for a statement that does anything else."""
    if not isinstance(node, Compound):
        yield None
        return
    plan = called_plan(node)
    if plan is not None:
        yield plan
        return
    statements = [s for s in node.block_items or [] if not isinstance(s, Comment)]
    if _is_boundary(statements):
        return
    for statement in statements:
        yield from _calls(statement)


def _is_boundary(statements: Sequence[Node]) -> bool:
    """Whether arrays come to the device here, or leave it: where they are there already, nothing is to be done."""
    match statements:
        case [c_ast.Decl(), KernelCall(plan=DataBoundary())]:
            return True
        case _:
            return False


def _takes_arrays_alone(plan: KernelPlan) -> bool:
    """Whether a kernel certainly runs, and all that it is given are whole arrays and literals."""
    runs = all(
        (literal_value(axis.trips) or 0) > 0 and literal_value(axis.start) is not None for axis in plan.axes
    )
    return (
        plan.options.on_device
        and runs
        and all(map(_is_whole, plan.buffers))
        and all(literal_value(scalar.value) is not None for scalar in plan.scalars)
        and not plan.reductions
        and plan.options.streams == 1
    )


def _is_whole(buffer: BufferPlan) -> bool:
    """Whether a buffer begins where an array of numbers does, and lies on the device as on the host."""
    address = emit_expression(buffer.address).replace(" ", "")
    begins = re.fullmatch(rf"&?{re.escape(buffer.name)}(\[0\])*", address) is not None
    return begins and not buffer.rows and buffer.record is None
