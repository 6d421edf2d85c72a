"""Expressions, with numbers for all that is known of them: what they read, write and compute is taken down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import nan

from orio_py.codegen.offload.device_tree import Shuffle, VectorOp, VectorOperation, WorkItem
from orio_py.ctree.ctype import integer_value, named_type
from orio_py.ctree.nodes import INCREMENTS, Node, c_ast, reference_parts
from orio_py.features.linear import UNKNOWN, LinearValue, plus, quotient, remainder, times
from orio_py.features.profile import AccessSite, LoopExecution, Space
from orio_py.kernel.types import element_bytes

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_ARITHMETIC: Mapping[str, Callable[[LinearValue, LinearValue], LinearValue]] = {
    "+": plus,
    "-": lambda a, b: plus(a, b, -1),
    "*": times,
    "/": quotient,
    "%": remainder,
}
_SMALLER = frozenset({"min", "fmin", "fminf"})
_LARGER = frozenset({"max", "fmax", "fmaxf"})
_CHEAP = frozenset({"fabs", "fabsf", "abs", "mad", "fma", "fmaf"})


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """An array as subscripts see it: the bytes of an element, and the extents behind the first subscript."""

    size: int
    extents: tuple[LinearValue, ...] = ()
    space: Space = Space.GLOBAL


_UNSEEN = ArrayShape(8)


@dataclass(frozen=True, slots=True)
class WalkScope:
    """What is known before the first statement: values of scalars, shapes of arrays, which scalars are whole numbers."""

    values: Mapping[str, LinearValue] = field(default_factory=dict[str, LinearValue])
    arrays: Mapping[str, ArrayShape] = field(default_factory=dict[str, ArrayShape])
    integers: frozenset[str] = frozenset()


class ExpressionWalk:
    """Evaluates expressions at the representative iteration; `place` gives the numbers of an item of a kernel."""

    def __init__(self, scope: WalkScope, place: Callable[[WorkItem], LinearValue] | None = None) -> None:
        self.values = dict(scope.values)
        self.arrays = dict(scope.arrays)
        self.integers = set(scope.integers)
        self.loops = [LoopExecution(0, -1, 1.0, 1.0)]
        self.accesses: list[AccessSite] = []
        self.here = self.loops[0]
        self.share = 1.0
        self._place = place
        self._is_index = False
        self._kinds: Mapping[type[Node], Callable[..., LinearValue]] = {
            c_ast.ID: self._name,
            c_ast.Constant: self._constant,
            c_ast.BinaryOp: self._binary,
            c_ast.ArrayRef: self._loaded,
            c_ast.StructRef: self._member,
            c_ast.UnaryOp: self._unary,
            c_ast.TernaryOp: self._ternary,
            c_ast.Cast: self._cast,
            c_ast.FuncCall: self._call,
            c_ast.Assignment: self._assigned,
            c_ast.ExprList: self._listed,
            WorkItem: self._item,
            VectorOperation: self._vector,
            Shuffle: self._shuffled,
        }

    def value(self, node: Node) -> LinearValue:
        """The value of an expression, which is taken down."""
        kind = self._kinds.get(type(node))
        return UNKNOWN if kind is None else kind(node)

    def index(self, node: Node) -> LinearValue:
        """The value of an expression that computes places and sizes: its operations are not counted."""
        before, self._is_index = self._is_index, True
        found = self.value(node)
        self._is_index = before
        return found

    # --- leaves ---

    def _name(self, node: c_ast.ID) -> LinearValue:
        return self.values.get(node.name, UNKNOWN)

    def _constant(self, node: c_ast.Constant) -> LinearValue:
        if "int" in node.type or "long" in node.type:
            whole = integer_value(node.value)
            return UNKNOWN if whole is None else LinearValue(whole)
        try:
            return LinearValue(float(node.value.rstrip("fFlL")))
        except ValueError:
            return UNKNOWN

    def _item(self, node: WorkItem) -> LinearValue:
        return UNKNOWN if self._place is None else self._place(node)

    # --- operators ---

    def _binary(self, node: c_ast.BinaryOp) -> LinearValue:
        first, second = self.value(node.left), self.value(node.right)
        if (compute := _ARITHMETIC.get(node.op)) is not None:
            self._count(node.op)
            return compute(first, second)
        if (compare := _COMPARED.get(node.op)) is not None and first.is_known and second.is_known:
            return LinearValue(int(compare(first.value, second.value)))
        return _logical(node.op, first, second)

    def _count(self, op: str) -> None:
        if self._is_index:
            return
        if op in "/%":
            self.here.divisions += self.share
        else:
            self.here.operations += self.share

    def _unary(self, node: c_ast.UnaryOp) -> LinearValue:
        operand = node.expr
        match node.op:
            case "-":
                return plus(LinearValue(0), self.value(operand), -1)
            case "+":
                return self.value(operand)
            case "!":
                found = self.value(operand)
                return LinearValue(int(not found.value)) if found.is_known else UNKNOWN
            case "*":
                address = self.index(operand)
                self._access(_base_name(operand), _UNSEEN, address, is_store=False)
                return UNKNOWN
            case op if op in INCREMENTS:
                if isinstance(operand, c_ast.ID):
                    before = self.value(operand)
                    self.values[operand.name] = plus(before, LinearValue(1), 1 if "+" in op else -1)
                    return before
                return self._stored(operand, is_read=True)
            case "sizeof":
                return self._bytes(operand)
            case _:
                return UNKNOWN

    def _bytes(self, operand: Node) -> LinearValue:
        """`sizeof` a row or an element of an array, or a type of numbers; unknown for others."""
        if isinstance(operand, c_ast.Typename):
            kind = named_type(operand)
            return UNKNOWN if kind is None else LinearValue(kind.bytes)
        base, subscripts = reference_parts(operand)
        shape = self.arrays.get(_base_name(base))
        if shape is None or not subscripts:
            return UNKNOWN
        found = LinearValue(shape.size)
        for extent in shape.extents[len(subscripts) - 1 :]:
            found = times(found, extent)
        return found

    def _ternary(self, node: c_ast.TernaryOp) -> LinearValue:
        # As conditions of borders are: nearly all iterations take the branch of the representative one.
        holds = self.value(node.cond)
        return self.value(node.iffalse if holds.is_known and not holds.value else node.iftrue)

    def _cast(self, node: c_ast.Cast) -> LinearValue:
        return self.value(node.expr)

    def _call(self, node: c_ast.FuncCall) -> LinearValue:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        given = node.args.exprs if isinstance(node.args, c_ast.ExprList) else []
        found = [self.value(argument) for argument in given]
        if len(found) == 2 and name in _SMALLER | _LARGER:
            if not all(one.is_known for one in found):
                return UNKNOWN
            return (min if name in _SMALLER else max)(found, key=lambda one: one.value)
        if not self._is_index:
            if name in _CHEAP:
                self.here.operations += self.share
            else:
                self.here.divisions += self.share
        return UNKNOWN

    def _listed(self, node: c_ast.ExprList) -> LinearValue:
        found = UNKNOWN
        for one in node.exprs:
            found = self.value(one)
        return found

    # --- assignments ---

    def _assigned(self, node: c_ast.Assignment) -> LinearValue:
        target, op = node.lvalue, node.op
        if isinstance(target, c_ast.ID):
            return self._scalar(target.name, op, node.rvalue)
        if op != "=":
            self._count(op[0])
        found = self.value(node.rvalue)
        self._stored(target, is_read=op != "=")
        return found

    def _scalar(self, name: str, op: str, value: Node) -> LinearValue:
        found = self.index(value) if name in self.integers else self.value(value)
        if op != "=" or _reads(value, name):
            if name not in self.integers:
                self.here.accumulated.add(name)
                if op != "=":
                    self._count(op[0])
            compute = _ARITHMETIC.get(op[:-1])
            if compute is not None:
                found = compute(self.values.get(name, UNKNOWN), found)
        self.values[name] = found
        return found

    # --- memory ---

    def _loaded(self, node: c_ast.ArrayRef) -> LinearValue:
        self._reference(node, is_store=False)
        return UNKNOWN

    def _member(self, node: c_ast.StructRef) -> LinearValue:
        if isinstance(node.name, c_ast.ArrayRef):
            self._reference(node.name, is_store=False)
        return UNKNOWN

    def _stored(self, target: Node, *, is_read: bool) -> LinearValue:
        """Take down that a place in memory is written, and before that read where it `is_read`."""
        if isinstance(target, c_ast.StructRef):
            target = target.name
        if isinstance(target, c_ast.ArrayRef):
            self._reference(target, is_store=True, is_read=is_read)
        elif isinstance(target, c_ast.UnaryOp) and target.op == "*":
            self._access(_base_name(target.expr), _UNSEEN, self.index(target.expr), is_store=True)
        return UNKNOWN

    def _reference(self, node: c_ast.ArrayRef, *, is_store: bool, is_read: bool = False) -> None:
        base, subscripts = reference_parts(node)
        name = _base_name(base)
        shape = self.arrays.get(name, _UNSEEN)
        place = self.index(subscripts[0])
        for number, subscript in enumerate(subscripts[1:]):
            extent = shape.extents[number] if number < len(shape.extents) else UNKNOWN
            place = plus(times(place, extent), self.index(subscript))
        if is_read:
            self._access(name, shape, place, is_store=False)
        self._access(name, shape, place, is_store=is_store)

    def _access(
        self, name: str, shape: ArrayShape, place: LinearValue, *, is_store: bool, width: int = 1
    ) -> None:
        slopes = {loop: slope * shape.size for loop, slope in place.slopes.items() if slope}
        size = shape.size * width
        offset = place.value * shape.size if place.is_known else nan
        self.accesses.append(
            AccessSite(name, shape.space, is_store, size, offset, self.here.number, self.share, slopes)
        )

    # --- what only devices have ---

    def _vector(self, node: VectorOperation) -> LinearValue:
        operands = list(node.operands)
        if node.operation in (VectorOp.LOAD, VectorOp.STORE):
            reference = operands.pop()
            if isinstance(reference, c_ast.UnaryOp):
                reference = reference.expr
            if isinstance(reference, c_ast.ArrayRef):
                name = _base_name(reference.name)
                shape = self.arrays.get(name, ArrayShape(element_bytes(node.type)))
                place = self.index(reference.subscript)
                is_store = node.operation is VectorOp.STORE
                self._access(name, shape, place, is_store=is_store, width=node.width)
        for operand in operands:
            self.value(operand)
        if node.operation is VectorOp.CALL:
            self.here.divisions += self.share
        return UNKNOWN

    def _shuffled(self, node: Shuffle) -> LinearValue:
        self.value(node.value)
        return UNKNOWN


def _logical(op: str, first: LinearValue, second: LinearValue) -> LinearValue:
    known = [one.value for one in (first, second) if one.is_known]
    if op == "&&":
        if any(not value for value in known):
            return LinearValue(0)
        return LinearValue(1) if len(known) == 2 else UNKNOWN
    if op == "||":
        if any(known):
            return LinearValue(1)
        return LinearValue(0) if len(known) == 2 else UNKNOWN
    return UNKNOWN


def _base_name(node: Node) -> str:
    while not isinstance(node, c_ast.ID):
        match node:
            case c_ast.Cast() | c_ast.UnaryOp():
                node = node.expr
            case c_ast.BinaryOp():
                node = node.left
            case c_ast.StructRef():
                node = node.field
            case c_ast.ArrayRef():
                node = node.name
            case _:
                return ""
    return node.name


def _reads(node: Node, name: str) -> bool:
    """Whether an operand of a sum or product is a scalar: `s = s + x`."""
    if isinstance(node, c_ast.BinaryOp):
        return _reads(node.left, name) or _reads(node.right, name)
    return isinstance(node, c_ast.ID) and node.name == name
