"""Scalars that a loop body only accumulates into, and how partial accumulators of them are combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from orio_py.ctree.build import assign, binary, call, declare, ident, if_, literal_value, ternary
from orio_py.ctree.ctype import ctype
from orio_py.ctree.dependence.scalars import reduction_operator
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, body_statements
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import assigned_names, assignments, declared_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.updates import cuts_off
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.types import fits_index, signedness

_UNKNOWN_TERMS = "the types of its terms are not known to be integers that fit in it"

_AT_ONCE = 8
"""So many accumulators are added in one statement."""

_REAL_EXTREMES = frozenset(name + suffix for name in ("fmin", "fmax") for suffix in ("", "f", "l"))
_INTEGER_EXTREMES = frozenset({"min", "max", "MIN", "MAX"})
_UNSIGNED_OF = {
    "ptrdiff_t": "size_t",
    "ssize_t": "size_t",
    "intptr_t": "uintptr_t",
    "intmax_t": "uintmax_t",
    **{f"int{bits}_t": f"uint{bits}_t" for bits in (32, 64)},
    **{name: name for name in ("size_t", "uintptr_t", "uintmax_t", "uint32_t", "uint64_t")},
    **{f"{sign}int{bits}_t": "unsigned" for sign in ("", "u") for bits in (8, 16)},
}
_SIGNED_OF = {
    "size_t": "ptrdiff_t",
    "uintptr_t": "intptr_t",
    "uintmax_t": "intmax_t",
    "uint32_t": "int32_t",
    "uint64_t": "int64_t",
}
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Reduction:
    """A scalar, how it is accumulated, and what its partial accumulators are like.

    `kind` is the type of the accumulators and `neutral` their first value.  Where `apart` is set, the scalar
    itself is no accumulator: its type has less room.  `why` says, if it is not None, why another order of
    accumulation can give another result; `is_cut_off` that it can be one that rounding does not explain.
    """

    name: str
    kind: str
    neutral: Node
    join: Callable[[Node], Node] | str
    place: Node
    apart: bool
    why: str | None
    is_cut_off: bool = False

    def declared(self, name: str) -> Node:
        """The declaration of an accumulator."""
        return declare(self.kind, name, self.neutral)

    def combined(self, names: Sequence[str]) -> list[Node]:
        """The statements that accumulate the accumulators, in this order, into the scalar."""
        parts = [ident(name) for name in names]
        if not isinstance(self.join, str):
            return [self.join(part) for part in parts]
        operator = self.join
        groups = [parts[first : first + _AT_ONCE] for first in range(0, len(parts), _AT_ONCE)]
        return [
            assign(
                self.name, reduce(lambda left, right: binary(operator, left, right), group), operator + "="
            )
            for group in groups
        ]


def reductions_in(view: CanonicalLoop, context: Context) -> list[Reduction]:
    """The reductions of a loop's body, in the order of their first statements."""
    inside = context.effects(view.body)
    hidden = declared_names(view.node)
    found: list[Reduction] = []
    for name in assigned_names(view.body):
        declared = context.declarations.get(name)
        if declared is None or name in hidden | inside.address_taken or not _is_number(declared):
            continue
        operator = reduction_operator(view.body, name)
        if operator is not None:
            found.append(_accumulated(name, operator, declared, view.body, context))
        elif not declared.is_complex and (extremes := _extremes(name, view.body)) is not None:
            found.append(_extreme(name, extremes, declared, context))
    return found


def _is_number(declared: CDeclaration) -> bool:
    is_rounded = declared.is_floating or declared.is_complex
    known = is_rounded or (declared.is_integer and declared.type not in {"_Bool", "bool"})
    plain = declared.is_scalar and "volatile" not in declared.qualifiers
    return plain and known and not declared.type.startswith("enum")


# Sums, products and bits


def _accumulated(name: str, operator: str, declared: CDeclaration, body: Node, context: Context) -> Reduction:
    steps = _steps(body, name)
    place = steps[0]
    if declared.is_floating or declared.is_complex:
        suffix = "f" if "float" in declared.type.split() else ""
        number = "0.0" if operator == "+" else "1.0"
        neutral: Node = c_ast.Constant("float" if suffix else "double", number + suffix)
        why = "floating-point results are rounded, and the order decides how"
        return Reduction(name, declared.type, neutral, operator, place, False, why)
    value = {"+": 0, "|": 0, "^": 0, "*": 1, "&": -1}[operator]
    neutral = (
        c_ast.Constant("int", str(value)) if value >= 0 else c_ast.UnaryOp("-", c_ast.Constant("int", "1"))
    )
    if operator in {"&", "|", "^"}:
        return Reduction(name, declared.type, neutral, operator, place, False, None)
    kind = unsigned_of(declared.type)
    doubtful = [step for step in steps if not _is_exact(step, declared.type, context)]
    if kind is None or doubtful:
        values = [step.rvalue for step in steps if isinstance(step, c_ast.Assignment)]
        cut_off = _is_cut_off(operator, declared, values, context)
        return Reduction(
            name, declared.type, neutral, operator, (*doubtful, place)[0], False, _UNKNOWN_TERMS, cut_off
        )
    return Reduction(name, kind, neutral, operator, place, kind != declared.type, None)


def _steps(body: Node, name: str) -> list[Node]:
    """The places of a body that assign or step a variable."""
    return [part for target, part in assignments(body) if target == name]


def _is_exact(step: Node, kind: str, context: Context) -> bool:
    """Whether a step adds integers, none wider than the scalar: modulo its width the order is of no matter."""
    return not isinstance(step, c_ast.Assignment) or _is_integer(step.rvalue, kind, context)


def _is_integer(term: Node, kind: str, context: Context) -> bool:
    for node in walk(term):
        if isinstance(node, c_ast.Constant):
            value = literal_value(node)
            if node.type != "char" and (value is None or value > _LARGEST):
                return False
    sign, wide = signedness(term, context), unsigned_of(kind)
    if sign == "unknown" or wide is None:
        return False
    narrow = " ".join(word for word in wide.split() if word != "unsigned") or "int"
    return fits_index(term, wide if sign == "unsigned" else _SIGNED_OF.get(wide, narrow), context)


def unsigned_of(kind: str) -> str | None:
    """The unsigned type, at least as wide as `unsigned`, in which sums of a type are formed; None if unknown."""
    words = kind.split()
    if kind in _UNSIGNED_OF:
        return _UNSIGNED_OF[kind]
    if not words or not set(words) <= {"char", "short", "int", "long", "signed", "unsigned"}:
        return None
    return " ".join(["unsigned", *(word for word in words if word == "long")])


# Minima and maxima


@dataclass(frozen=True, slots=True)
class _Extreme:
    """One statement that takes the larger or the smaller value."""

    node: Node
    term: Node
    largest: bool
    real: bool | None
    again: Callable[[Node], Node]


def _extremes(name: str, body: Node) -> list[_Extreme] | None:
    """The statements by which a scalar takes extremes, all of one kind; None if it is used otherwise."""
    found = [extreme for node in walk(body) if (extreme := _extreme_in(node, name)) is not None]
    uses = sum(1 for node in walk(body) if isinstance(node, c_ast.ID) and node.name == name)
    if not found or len({extreme.largest for extreme in found}) > 1:
        return None
    counted = sum(_uses(extreme.node, name) for extreme in found)
    return found if uses == counted and not any(_uses(extreme.term, name) for extreme in found) else None


def _uses(node: Node, name: str) -> int:
    return sum(1 for part in walk(node) if isinstance(part, c_ast.ID) and part.name == name)


def _extreme(name: str, found: list[_Extreme], declared: CDeclaration, context: Context) -> Reduction:
    first = found[0]
    why: str | None = None
    cut_off = False
    if declared.is_floating:
        why = "the order decides between zeros of different sign and where a value is no number"
    elif any(e.real or not _fits(e.term, declared.type, context) for e in found):
        why = _UNKNOWN_TERMS
        operator = "max" if first.largest else "min"
        cut_off = _is_cut_off(operator, declared, [extreme.term for extreme in found], context)
    return Reduction(name, declared.type, ident(name), first.again, first.node, False, why, cut_off)


def _is_cut_off(operator: str, declared: CDeclaration, values: Sequence[Node], context: Context) -> bool:
    own = ctype(declared.type)
    kinds = [expression_type(value, context) for value in values]
    return own is None or any(cuts_off(operator, own, kind) for kind in kinds)


def _fits(term: Node, kind: str, context: Context) -> bool:
    if not (_is_integer(term, kind, context) and fits_index(term, kind, context)):
        return False
    given, own = expression_type(term, context), ctype(kind)
    if given is None or own is None or given == own:
        return given is not None
    value, outer = literal_value(term), own.limits
    inner = given.reach if given.is_narrow else given.limits
    inner = inner if value is None else (value, value)
    return inner is not None and outer is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


def _extreme_in(node: Node, name: str) -> _Extreme | None:
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value) if target == name:
            return _extreme_value(node, value, name)
        case c_ast.If(cond=c_ast.BinaryOp() as test, iftrue=then, iffalse=None):
            items = body_statements(then)
            match items:
                case [c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=term)] if target == name:
                    return _extreme_test(node, test, term, name)
                case _:
                    return None
        case _:
            return None


def _extreme_value(node: Node, value: Node, name: str) -> _Extreme | None:
    match value:
        case c_ast.FuncCall(name=c_ast.ID(name=function), args=c_ast.ExprList(exprs=[left, right])):
            if function not in _REAL_EXTREMES | _INTEGER_EXTREMES or _is(left, name) == _is(right, name):
                return None
            term = right if _is(left, name) else left
            return _Extreme(
                node,
                term,
                "max" in function.lower(),
                function in _REAL_EXTREMES,
                lambda part: assign(name, call(function, ident(name), part)),
            )
        case c_ast.TernaryOp(cond=c_ast.BinaryOp() as test, iftrue=first, iffalse=second):
            if _is(first, name) == _is(second, name):
                return None
            term = second if _is(first, name) else first
            largest = _takes_largest(test, first, term, name)
            if largest is None:
                return None

            def again(part: Node) -> Node:
                chosen = (ident(name), part) if _is(first, name) else (part, ident(name))
                return assign(name, ternary(_compared(test, name, part), *chosen))

            return _Extreme(node, term, largest, None, again)
        case _:
            return None


def _extreme_test(node: Node, test: c_ast.BinaryOp, term: Node, name: str) -> _Extreme | None:
    largest = _takes_largest(test, term, term, name)
    if largest is None:
        return None
    return _Extreme(
        node, term, largest, None, lambda part: if_(_compared(test, name, part), assign(name, part))
    )


def _takes_largest(test: c_ast.BinaryOp, chosen: Node, term: Node, name: str) -> bool | None:
    """Whether a comparison of the scalar with a term chooses the larger; None if it is no such comparison."""
    if test.op not in {"<", "<=", ">", ">="} or _is(test.left, name) == _is(test.right, name):
        return None
    other = test.right if _is(test.left, name) else test.left
    if not equal(other, term):
        return None
    takes_left = equal(chosen, test.left)
    return takes_left == test.op.startswith(">")


def _compared(test: c_ast.BinaryOp, name: str, part: Node) -> Node:
    sides = (ident(name), part) if _is(test.left, name) else (part, ident(name))
    return binary(test.op, *sides)


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name
