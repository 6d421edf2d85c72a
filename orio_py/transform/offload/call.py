"""The call that stands in the region for a kernel, and the parameters of the function that it calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import block, declare, ident, index, literal_value, unary
from orio_py.ctree.nodes import Compound, KernelCall, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, walk
from orio_py.transform.offload.arithmetic import as_long
from orio_py.transform.offload.plan import Axis, BufferPlan, Direction, KernelPlan


@dataclass(frozen=True, slots=True)
class HostParameter:
    """One parameter of a kernel's host function: its C type, its name, and the argument in the region."""

    type: str
    name: str
    argument: Node


def start_name(axis: Axis) -> str:
    """The parameter that holds an axis's first index."""
    return f"orio_start_{axis.index}"


def trips_name(axis: Axis) -> str:
    """The parameter that holds an axis's number of iterations."""
    return f"orio_trips_{axis.index}"


def begin_name(axis: Axis) -> str:
    """What kernels with staged tiles call the number of a group's first iteration of an axis."""
    return f"orio_begin_{axis.index}"


def place_name(axis: Axis) -> str:
    """What kernels with staged tiles call the number of an item in its group along an axis."""
    return f"orio_place_{axis.index}"


def length_name(axis: Axis) -> str:
    """What kernels with blocks call the number of a loop's iterations in one block."""
    return f"orio_length_{axis.index}"


def from_name(axis: Axis) -> str:
    """What kernels in several queues call the number of the first iteration of their slice."""
    return f"orio_from_{axis.index}"


FIRST_GROUP = "orio_first_group"
"""What kernels in several queues call the number that their slice's first group has among all groups."""


def slice_names(array: str) -> tuple[str, str, str]:
    """The parameters that hold the step, the lowest element and the reach of an array's slices."""
    return f"orio_step_{array}", f"orio_low_{array}", f"orio_reach_{array}"


def size_name(array: str) -> str:
    """The parameter that holds the bytes of a structure, which the host compares with the device's."""
    return f"orio_size_{array}"


def call_parameters(plan: KernelPlan) -> tuple[HostParameter, ...]:
    """The host function's parameters, in order.

    A pointer to the first element of each buffer (`const` where the kernel only reads it); the `long` number
    of elements of each buffer, with its slices where there are some, as `long` numbers; the `long` bytes of each structure that a buffer
    holds; the scalars; for each axis, slowest first, its start unless that is a literal, and its `long` number of iterations; the address of each reduction's scalar.
    """
    found = [_pointer(buffer) for buffer in plan.buffers]
    found += [HostParameter("long", f"orio_count_{buffer.name}", buffer.count) for buffer in plan.buffers]
    for buffer in plan.buffers:
        if buffer.slices is not None:
            values = (buffer.slices.step, buffer.slices.low, buffer.slices.reach)
            names = slice_names(buffer.name)
            found += [HostParameter("long", n, v) for n, v in zip(names, values, strict=True)]
    found += [
        HostParameter("long", size_name(b.name), _size_of(b)) for b in plan.buffers if b.record is not None
    ]
    found += [HostParameter(scalar.type, scalar.parameter, scalar.value) for scalar in plan.scalars]
    for axis in plan.axes:
        if literal_value(axis.start) is None:
            found.append(HostParameter(axis.type, start_name(axis), axis.start))
        found.append(HostParameter("long", trips_name(axis), axis.trips))
    found += [HostParameter(f"{r.type} *", r.name, unary("&", ident(r.name))) for r in plan.reductions]
    return tuple(found)


def _pointer(buffer: BufferPlan) -> HostParameter:
    constant = "const " if buffer.direction is Direction.IN else ""
    kind = buffer.type if buffer.record is None else "void"
    return HostParameter(f"{constant}{kind} *", buffer.name, buffer.address)


def _size_of(buffer: BufferPlan) -> Node:
    """The bytes of an element where the region stands."""
    element = buffer.address
    while isinstance(element, (c_ast.UnaryOp, c_ast.BinaryOp)):
        element = element.expr if isinstance(element, c_ast.UnaryOp) else element.left
    if not isinstance(element, c_ast.ArrayRef):
        element = index(element, 0)
    return as_long(unary("sizeof", element))


def call_of(plan: KernelPlan) -> Compound:
    """`{ void NAME(…); NAME(…); }`: the declaration of the host function, and its call."""
    parameters = call_parameters(plan)
    arguments = c_ast.ExprList([parameter.argument for parameter in parameters])
    return block(_prototype(plan.name, parameters), KernelCall(ident(plan.name), arguments, plan))


def _prototype(name: str, parameters: Sequence[HostParameter]) -> c_ast.Decl:
    listed = c_ast.ParamList([declare(parameter.type, parameter.name) for parameter in parameters])
    result = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["void"]))
    return c_ast.Decl(name, [], [], [], [], c_ast.FuncDecl(listed, result), None, None)


def kernel_plans(tree: Node) -> tuple[KernelPlan, ...]:
    """The plans of the kernels that a region calls, in the order of the source, each once."""
    found: dict[str, KernelPlan] = {}
    for node in walk(tree):
        if isinstance(node, KernelCall) and isinstance(node.plan, KernelPlan):
            found.setdefault(node.plan.name, node.plan)
    return tuple(found.values())


def numbered(tree: Node, label: str) -> Node:
    """The tree with its kernels named `orio_opencl_LABEL_0` and so on, in the order of the source.

    The second word is the language's; copies of one call keep one name.
    """
    plans: dict[int, int] = {}
    for node in walk(tree):
        if isinstance(node, KernelCall):
            plans.setdefault(id(node.plan), len(plans))
    if not plans:
        return tree
    return _Numbering(plans, label).rewrite(tree)


class _Numbering(Rewriter):
    """Gives each block that `call_of` made the number of its plan."""

    def __init__(self, plans: dict[int, int], label: str) -> None:
        self._plans = plans
        self._label = label
        self._known: dict[int, KernelPlan] = {}

    def visit_Compound(self, node: Compound) -> Replacement:
        match node.block_items:
            case [c_ast.Decl(type=c_ast.FuncDecl()), KernelCall() as call] if isinstance(
                call.plan, KernelPlan
            ):
                plan = self._plan(call.plan)
                assert isinstance(call.args, c_ast.ExprList)
                prototype = _prototype(plan.name, call_parameters(plan))
                return block(prototype, KernelCall(ident(plan.name), call.args, plan))
            case _:
                return self.generic(node)

    def _plan(self, plan: KernelPlan) -> KernelPlan:
        number = self._plans[id(plan)]
        if number not in self._known:
            self._known[number] = replace(plan, name=f"orio_{plan.language}_{self._label}_{number}")
        return self._known[number]
