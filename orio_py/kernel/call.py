"""The call that stands in the region for a kernel, and the parameters of the function that it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from orio_py.ctree.build import as_long, binary, block, declare, ident, index, literal_value, unary
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Compound, KernelCall, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, walk
from orio_py.kernel.plan import Axis, BufferPlan, DataPlan, Direction, KernelPlan


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
    found += [HostParameter("long", count_name(buffer.name), buffer.count) for buffer in plan.buffers]
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
    types: list[Node] = [declare(parameter.type, parameter.name) for parameter in parameters]
    nothing = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["void"])))
    listed = c_ast.ParamList(types or [nothing])
    result = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["void"]))
    return c_ast.Decl(name, [], [], [], [], c_ast.FuncDecl(listed, result), None, None)


def called_plan(node: Node) -> KernelPlan | None:
    """The plan of a block that `call_of` made, None for any other statement."""
    match node:
        case Compound(block_items=[c_ast.Decl(type=c_ast.FuncDecl()), KernelCall(plan=KernelPlan() as plan)]):
            return plan
        case _:
            return None


def kernel_plans(tree: Node) -> tuple[KernelPlan, ...]:
    """The plans of the kernels that a region calls, in the order of the source, each once."""
    found: dict[str, KernelPlan] = {}
    for node in walk(tree):
        if isinstance(node, KernelCall):
            if isinstance(node.plan, DataBoundary):
                continue
            for plan in node.plan.plans if isinstance(node.plan, KernelGroup) else (node.plan,):
                assert isinstance(plan, KernelPlan)
                found.setdefault(plan.name, plan)
    return tuple(found.values())


def numbered(tree: Node, label: str) -> Node:
    """The tree with its kernels named `orio_opencl_LABEL_0` and so on, in the order of the source.

    The second word is the language's; copies of one call keep one name.
    """
    plans: dict[int, KernelPlan] = {}
    for node in walk(tree):
        if isinstance(node, KernelCall) and isinstance(node.plan, KernelPlan) and id(node.plan) not in plans:
            name = f"orio_{node.plan.language}_{label}_{len(plans)}"
            plans[id(node.plan)] = replace(node.plan, name=name)
    return with_plans(tree, plans)


def with_plans(tree: Node, plans: Mapping[int, KernelPlan]) -> Node:
    """The tree with other plans in its calls, given by the identities of those that are there."""
    return _Replaced(plans).rewrite(tree) if plans else tree


class _Replaced(Rewriter):
    """Gives each block that `call_of` made another plan."""

    def __init__(self, plans: Mapping[int, KernelPlan]) -> None:
        self._plans = plans

    def visit_Compound(self, node: Compound) -> Replacement:
        boundary = _boundary(node)
        if boundary is not None and (kernel := self._plans.get(id(boundary.kernel))) is not None:
            return _boundary_call(DataBoundary(kernel, boundary.ends), _arguments(node))
        plan = called_plan(node)
        new = None if plan is None else self._plans.get(id(plan))
        if new is None:
            return self.generic(node)
        # The arguments are those of the call: they may have changed since it was made.
        call = KernelCall(ident(new.name), c_ast.ExprList(_arguments(node)), new)
        return block(_prototype(new.name, call_parameters(new)), call)


def _arguments(node: Node) -> list[Node]:
    """The arguments of a call in the block that `call_of` made."""
    assert isinstance(node, Compound)
    call = (node.block_items or [])[-1]
    assert isinstance(call, KernelCall)
    return list(call.args.exprs) if isinstance(call.args, c_ast.ExprList) else []


@dataclass(frozen=True, slots=True)
class DataBoundary:
    """Where the arrays of `kernel.data` come to the device, or leave it where it `ends`: a call of a host function."""

    kernel: KernelPlan
    ends: bool

    @property
    def name(self) -> str:
        """The host function's name."""
        return data_function(self.kernel.name, ends=self.ends)


def data_function(kernel: str, *, ends: bool) -> str:
    """The function that begins or ends the time in which arrays stay on the device, by a kernel's host function."""
    return f"{kernel}_data_{'end' if ends else 'begin'}"


def ready_function(function: str) -> str:
    """The function that says whether what a host function does can run on a device.

    >>> ready_function("orio_cuda_axpy_0")
    'orio_cuda_axpy_0_ready'
    """
    return f"{function}_ready"


def count_name(array: str) -> str:
    """The parameter that holds the number of elements of an array's buffer."""
    return f"orio_count_{array}"


def data_parameters(data: DataPlan) -> tuple[HostParameter, ...]:
    """The parameters of the function that begins: a pointer and `long` bytes for each piece of each array."""
    found: list[HostParameter] = []
    for slot, array in enumerate(data.arrays):
        for number, piece in enumerate(array.pieces):
            kind = "void *" if array.goes_out else "const void *"
            is_wide = emit_expression(piece.count).startswith("(long)")
            count = piece.count if is_wide else as_long(piece.count)
            bytes_ = binary("*", count, _size_of(piece))
            found.append(HostParameter(kind, f"orio_piece_{slot}_{number}", piece.address))
            found.append(HostParameter("long", f"orio_bytes_{slot}_{number}", bytes_))
    return tuple(found)


def data_calls(kernel: KernelPlan) -> tuple[Compound, Compound]:
    """`{ void NAME_data_begin(…); NAME_data_begin(…); }`, and the same for the end."""
    assert kernel.data is not None
    arguments = [parameter.argument for parameter in data_parameters(kernel.data)]
    return _boundary_call(DataBoundary(kernel, False), arguments), _boundary_call(
        DataBoundary(kernel, True), []
    )


def _boundary_call(boundary: DataBoundary, arguments: Sequence[Node]) -> Compound:
    data = boundary.kernel.data
    assert data is not None
    given = () if boundary.ends else data_parameters(data)
    call = KernelCall(ident(boundary.name), c_ast.ExprList([*arguments]) if arguments else None, boundary)
    return block(_prototype(boundary.name, given), call)


def _boundary(node: Node) -> DataBoundary | None:
    """The boundary of a block that `data_calls` made, None for any other statement."""
    match node:
        case Compound(
            block_items=[c_ast.Decl(type=c_ast.FuncDecl()), KernelCall(plan=DataBoundary() as boundary)]
        ):
            return boundary
        case _:
            return None


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """Kernels that one host function named `name` runs one after the other, sharing arrays on the device."""

    name: str
    plans: tuple[KernelPlan, ...]


@dataclass(frozen=True, slots=True)
class GroupParameters:
    """The parameters of a group's host function; `names` gives, for each plan, which stand for those of its own."""

    parameters: tuple[HostParameter, ...]
    names: tuple[Mapping[str, str], ...]


def group_parameters(group: KernelGroup) -> GroupParameters:
    """The pointers to all arrays, then what else each kernel is given; equal ones are given once."""
    found: dict[tuple[str, str], HostParameter] = {}
    names: list[dict[str, str]] = [{} for _ in group.plans]
    own = [call_parameters(plan) for plan in group.plans]
    for plan, parameters, known in zip(group.plans, own, names, strict=True):
        for parameter in parameters[: len(plan.buffers)]:
            before = found.setdefault((parameter.name, ""), parameter)
            if before.type.startswith("const ") and not parameter.type.startswith("const "):
                found[parameter.name, ""] = parameter
            known[parameter.name] = parameter.name
    taken = {parameter.name for parameter in found.values()}
    for number, (plan, parameters) in enumerate(zip(group.plans, own, strict=True)):
        for parameter in parameters[len(plan.buffers) :]:
            key = f"{parameter.type} {parameter.name}", emit_expression(parameter.argument)
            if key not in found:
                name = parameter.name
                while name in taken:
                    name = f"{name}_{number}"
                taken.add(name)
                found[key] = replace(parameter, name=name)
            names[number][parameter.name] = found[key].name
    return GroupParameters(tuple(found.values()), tuple(names))


def joined(tree: Node) -> Node:
    """The tree with calls next to each other that share arrays as one call of a host function for all of them."""
    return _Joined().rewrite(tree)


class _Joined(Rewriter):
    def visit_Compound(self, node: Compound) -> Replacement:
        new = self.generic(node)
        items: list[Node] = []
        for _, run in groupby(new.block_items or [], _scope):
            members = list(run)
            plans = tuple(plan for plan in map(called_plan, members) if plan is not None)
            items += members if len(plans) < 2 else [_group_call(members, plans)]
        return new if len(items) == len(new.block_items or []) else copy_with(new, block_items=items)


def _scope(node: Node) -> object:
    plan = called_plan(node)
    scope = None if plan is None else plan.options.cuda.scope
    return id(node) if scope is None else ("scope", scope)


def _group_call(members: Sequence[Node], plans: tuple[KernelPlan, ...]) -> Compound:
    number = plans[-1].name.rpartition("_")[2]
    group = KernelGroup(f"{plans[0].name}_to_{number}", plans)
    found = group_parameters(group)
    given: dict[str, Node] = {}
    for member, plan, names in zip(members, plans, found.names, strict=True):
        for parameter, argument in zip(call_parameters(plan), _arguments(member), strict=True):
            given.setdefault(names[parameter.name], argument)
    arguments = c_ast.ExprList([given[parameter.name] for parameter in found.parameters])
    return block(_prototype(group.name, found.parameters), KernelCall(ident(group.name), arguments, group))


def kernel_groups(tree: Node) -> tuple[KernelGroup, ...]:
    """The groups of kernels that a region calls."""
    found = {
        n.plan.name: n.plan
        for n in walk(tree)
        if isinstance(n, KernelCall) and isinstance(n.plan, KernelGroup)
    }
    return tuple(found.values())
