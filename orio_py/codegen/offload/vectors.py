"""C statements → device code over vectors: several iterations at once, one in each lane.

    y[i] = a * x[i + 1];            vstore4(a * vload4(0, &x[i + 1]), 0, &y[i]);
    if (x[i] > m) m = x[i];         const long4 orio_mask_0 = vload4(0, &x[i]) > orio_lanes_m;
                                    orio_lanes_m = select(orio_lanes_m, vload4(0, &x[i]), orio_mask_0);

What is the same in all lanes stays a scalar.  Values have the types that C gives them, element by element: vectors
are converted explicitly, as OpenCL C does not promote them, and its comparisons of vectors give -1 for true.

Source: The OpenCL Specification 1.2, sections 6.2 (conversions), 6.3 (operators), 6.12.6 and 6.12.7 (functions).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import VectorOp, VectorOperation
from orio_py.codegen.offload.statements import Kernel, device_kind, lowered
from orio_py.codegen.offload.types import Types, common_type, type_of
from orio_py.ctree.build import (
    assign,
    binary,
    block,
    cast_to,
    const,
    declare,
    for_,
    ident,
    index,
    ternary,
    unary,
)
from orio_py.ctree.nodes import INCREMENTS, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, rename
from orio_py.kernel.functions import choice, device_function
from orio_py.kernel.plan import Axis, KernelPlan
from orio_py.transformation.offload.vectors import differs

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_TESTS = frozenset({"isnan", "isinf", "isfinite", "isnormal", "signbit"})
_MASKS = {
    "char": "char",
    "uchar": "char",
    "short": "short",
    "ushort": "short",
    "int": "int",
    "uint": "int",
    "float": "int",
    "long": "long",
    "ulong": "long",
    "double": "long",
}
"""The signed integer types as wide as others: what comparisons give, and what `select` takes."""


def lanes_name(name: str) -> str:
    """What holds the values of an index or a reduction in all lanes."""
    return f"orio_lanes_{name}"


def index_lanes(axis: Axis, plan: KernelPlan) -> Node:
    """The index of each lane's iteration."""
    element, name, width = device_kind(axis.type), device_name(axis.index), plan.launch.vector
    assert plan.lanes is not None
    step = -axis.stride if plan.lanes.backwards else axis.stride
    offsets = VectorOperation(
        VectorOp.VALUES, element, width, *(const(step * place) for place in range(width))
    )
    kind = f"{element}{width}"
    return declare(f"const {kind}", lanes_name(name), binary("+", cast_to(kind, ident(name)), offsets))


class _Shape(Enum):
    """A value for all lanes, one for each, or a truth value for each that is 0 or -1."""

    SCALAR = auto()
    LANES = auto()
    MASK = auto()


@dataclass(frozen=True, slots=True)
class _Value:
    node: Node
    type: str
    shape: _Shape


class Vectors:
    """Translates the body of one plan; `uses_index` says afterwards whether the index is needed as a vector."""

    def __init__(self, kernel: Kernel) -> None:
        plan, types = kernel.plan, kernel.types
        assert plan.lanes is not None
        self.uses_index = False
        self._width = plan.launch.vector
        self._names = {name: device_name(name) for name in types}
        self._types = {self._names[name]: kind for name, kind in types.items()}
        self._index = device_name(plan.axes[-1].index)
        self._varying = frozenset(device_name(name) for name in plan.lanes.varying)
        self._own = {self._index, *(device_name(reduction.name) for reduction in plan.reductions)}
        self._masks = 0

    def vector_type(self, name: str) -> str:
        """The type of a scalar under its name in the kernel: a vector where it differs between lanes."""
        kind = self._types[name]
        return self._vector(kind) if name in self._varying else kind

    def _vector(self, kind: str) -> str:
        return f"{kind}{self._width}"

    def statement(self, node: Node) -> Node:
        """A statement of the body, for all lanes."""
        return self._statement(rename(node, self._names), None)

    def _statement(self, node: Node, mask: _Value | None) -> Node:
        match node:
            case Compound():
                return block(*(self._statement(item, mask) for item in node.block_items or []))
            case c_ast.DeclList():
                return copy_with(node, decls=[self._statement(item, mask) for item in node.decls])
            case c_ast.Decl(name=str(name)) if name in self._varying:
                value = None if node.init is None else self._lanes(self._value(node.init), self._types[name])
                return declare(self.vector_type(name), name, value)
            case c_ast.If():
                return self._if(node, mask)
            case For(init=first, cond=condition, next=step):
                head = [None if part is None else self._plain(part) for part in (first, condition, step)]
                return for_(head[0], head[1], head[2], self._statement(node.stmt, mask))
            case c_ast.While() | c_ast.DoWhile():
                return copy_with(node, cond=self._plain(node.cond), stmt=self._statement(node.stmt, mask))
            case c_ast.Assignment(op=op, lvalue=target, rvalue=value):
                return self._assignment(target, op, value, mask)
            case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS:
                return self._assignment(target, "+=" if "+" in op else "-=", const(1), mask)
            case _:
                return self._plain(node)

    def _if(self, node: c_ast.If, mask: _Value | None) -> Node:
        branches = [branch for branch in (node.iftrue, node.iffalse) if branch is not None]
        if not differs(node.cond, self._varying):
            first, *rest = (self._statement(branch, mask) for branch in branches)
            return c_ast.If(self._plain(node.cond), first, rest[0] if rest else None)
        condition = self._mask(self._value(node.cond))
        name = f"orio_mask_{self._masks}"
        self._masks += 1
        items: list[Node] = [declare(f"const {self._vector(condition.type)}", name, condition.node)]
        for number, branch in enumerate(branches):
            holds: Node = ident(name) if number == 0 else unary("~", ident(name))
            if mask is not None:
                holds = binary("&", holds, self._as_mask(mask, condition.type))
            items.append(self._statement(branch, _Value(holds, condition.type, _Shape.MASK)))
        return block(*items)

    def _assignment(self, target: Node, op: str, value: Node, mask: _Value | None) -> Node:
        if isinstance(target, c_ast.ID) and target.name not in self._varying:
            return self._plain(assign(target, value, op))
        kind = type_of(target, self._types)
        whole = value if op == "=" else binary(op[:-1], target, value)
        new = self._lanes(self._value(whole), kind)
        if mask is not None:
            new = self._select(kind, self._value(target).node, new, self._as_mask(mask, _MASKS[kind]))
        if isinstance(target, c_ast.ArrayRef):
            return self._operation(VectorOp.STORE, kind, new, self._address(target))
        return assign(self._value(target).node, new)

    def _plain(self, node: Node) -> Node:
        """An expression or a statement that is the same in all lanes."""
        return lowered(node, self._types)

    def _value(self, node: Node) -> _Value:
        if not differs(node, self._varying):
            return _Value(self._plain(node), type_of(node, self._types), _Shape.SCALAR)
        kind = type_of(node, self._types)
        match node:
            case c_ast.ID(name=name):
                self.uses_index = self.uses_index or name == self._index
                return _Value(ident(lanes_name(name) if name in self._own else name), kind, _Shape.LANES)
            case c_ast.ArrayRef():
                load = self._operation(VectorOp.LOAD, kind, self._address(node))
                return _Value(load, kind, _Shape.LANES)
            case c_ast.Cast(expr=inner):
                return _Value(self._lanes(self._value(inner), kind), kind, _Shape.LANES)
            case c_ast.UnaryOp(op="!", expr=operand):
                mask = self._mask(self._value(operand))
                return _Value(unary("~", mask.node), mask.type, _Shape.MASK)
            case c_ast.UnaryOp(op="+", expr=operand):
                return _Value(self._lanes(self._value(operand), kind), kind, _Shape.LANES)
            case c_ast.UnaryOp(op=op, expr=operand):
                return _Value(unary(op, self._lanes(self._value(operand), kind)), kind, _Shape.LANES)
            case c_ast.BinaryOp(op=op, left=left, right=right):
                return self._binary(op, left, right, kind)
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
                if differs(condition, self._varying):
                    return self._choice(self._value(condition), first, second, kind)
                one, two = (self._lanes(self._value(part), kind) for part in (first, second))
                return _Value(ternary(self._plain(condition), one, two), kind, _Shape.LANES)
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=arguments)):
                return self._call(name, arguments, kind)
            case _:
                raise AssertionError(f"no vector of {type(node).__name__}")

    def _binary(self, op: str, left: Node, right: Node, kind: str) -> _Value:
        first, second = self._value(left), self._value(right)
        if op in {"&&", "||"}:
            one, two = self._mask(first), self._mask(second)
            wide = max(one.type, two.type, key=("char", "short", "int", "long").index)
            joined = binary(op[0], self._as_mask(one, wide), self._as_mask(two, wide))
            return _Value(joined, wide, _Shape.MASK)
        if op in _COMPARISONS:
            kind = common_type(first.type, second.type)
            compared = binary(op, self._operand(first, kind), self._operand(second, kind))
            return _Value(compared, _MASKS[kind], _Shape.MASK)
        if op in {"<<", ">>"}:
            shifted = binary(op, self._lanes(first, kind), self._lanes(second, kind))
            return _Value(shifted, kind, _Shape.LANES)
        return _Value(binary(op, self._operand(first, kind), self._operand(second, kind)), kind, _Shape.LANES)

    def _choice(self, condition: _Value, first: Node, second: Node, kind: str) -> _Value:
        """`condition ? first : second`, both computed in all lanes."""
        mask = self._as_mask(self._mask(condition), _MASKS[kind])
        one, two = (self._lanes(self._value(part), kind) for part in (first, second))
        return _Value(self._select(kind, two, one, mask), kind, _Shape.LANES)

    def _call(self, name: str, arguments: list[Node], kind: str) -> _Value:
        function = device_function(name)
        if function is None:
            operator = choice(name)
            assert operator is not None
            first, second = arguments
            return self._choice(self._value(binary(operator, first, second)), first, second, kind)
        values = [self._value(argument) for argument in arguments]
        wanted = [
            p or (v.type if v.type in {"float", "double"} else "double")
            for p, v in zip(function.parameters, values, strict=True)
        ]
        given = (self._lanes(value, want) for value, want in zip(values, wanted, strict=True))
        result = VectorOperation(VectorOp.CALL, function.result, self._width, *given, called=name)
        if function.name in _TESTS:
            return _Value(result, _MASKS[wanted[0]], _Shape.MASK)
        return _Value(result, function.result, _Shape.LANES)

    def _operand(self, value: _Value, kind: str) -> Node:
        """An operand of an operator whose operands have this type; a scalar stands for all lanes."""
        scalar = value.shape is _Shape.SCALAR and value.type != "bool"
        return value.node if scalar else self._lanes(value, kind)

    def _lanes(self, value: _Value, kind: str) -> Node:
        """The value as a vector of elements of this type."""
        match value.shape:
            case _Shape.SCALAR:
                # As a vector a true `bool` would be -1.
                number = cast_to("int", value.node) if value.type == "bool" else value.node
                return cast_to(self._vector(kind), number)
            case _Shape.LANES:
                return value.node if value.type == kind else self._converted(value.node, kind)
            case _Shape.MASK:
                truth = unary("-", value.node)
                return truth if value.type == kind else self._converted(truth, kind)

    def _converted(self, node: Node, kind: str) -> Node:
        return self._operation(VectorOp.CONVERT, kind, node)

    def _select(self, kind: str, unset: Node, when_set: Node, mask: Node) -> Node:
        return self._operation(VectorOp.SELECT, kind, unset, when_set, mask)

    def _operation(self, operation: VectorOp, kind: str, *operands: Node) -> Node:
        return VectorOperation(operation, kind, self._width, *operands)

    def _mask(self, value: _Value) -> _Value:
        """The value as a condition."""
        match value.shape:
            case _Shape.SCALAR:
                truth = cast_to(self._vector("int"), ternary(value.node, const(-1), const(0)))
                return _Value(truth, "int", _Shape.MASK)
            case _Shape.LANES:
                # A scalar must not be of a wider type than the elements.
                narrow = value.type in {"char", "uchar", "short", "ushort"}
                zero = cast_to(value.type, const(0)) if narrow else const(0)
                return _Value(binary("!=", value.node, zero), _MASKS[value.type], _Shape.MASK)
            case _Shape.MASK:
                return value

    def _as_mask(self, mask: _Value, kind: str) -> Node:
        return mask.node if mask.type == kind else self._converted(mask.node, kind)

    def _address(self, node: c_ast.ArrayRef) -> Node:
        """The address of the first lane's element."""
        first = _FirstLane(self._varying - {self._index}, self._types, self._width).rewrite(node.subscript)
        return unary("&", index(node.name, self._plain(first)))


class _FirstLane(Rewriter):
    """A subscript with the values of the lane that stands first in memory."""

    def __init__(self, vectors: frozenset[str], types: Types, width: int) -> None:
        self._vectors = vectors
        self._types = types
        self._width = width

    def visit_ID(self, node: c_ast.ID) -> Node:
        if node.name not in self._vectors:
            return node
        return VectorOperation(VectorOp.FIRST, self._types[node.name], self._width, node)
