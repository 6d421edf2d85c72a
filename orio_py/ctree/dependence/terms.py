"""C expressions as polynomials and C conditions as affine constraints.

What cannot be expressed exactly is None: the callers then assume any value.  Arithmetic is that of the
integers; an index computation that overflows or wraps around has no meaning here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orio_py.ctree.ctype import CType, Rank, ctype
from orio_py.ctree.dependence.affine import MAXIMUM_TERMS, Polynomial
from orio_py.ctree.dependence.names import Names, resolve
from orio_py.ctree.dependence.scope import NEVER, Constraint, Level, Scope, relation
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.known_functions import MAXIMUM_NAMES, MINIMUM_NAMES
from orio_py.ctree.nodes import NEGATED, c_ast
from orio_py.ctree.rewrite import walk

__all__ = [
    "Constraint",
    "Level",
    "Proof",
    "Scope",
    "Terms",
    "is_wide_integer",
    "literal",
    "relation",
]

_INVARIANT_NODES = frozenset(
    {"ArrayRef", "BinaryOp", "ExprList", "ID", "IdentifierType", "TernaryOp", "TypeDecl", "Typename"}
)
_INVARIANT_UNARY = frozenset({"-", "+", "~", "!", "*"})
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_ZERO = Polynomial.constant(0)
_SLACK = {"<": -1, "<=": 1, ">": 1, ">=": -1}

Proof = Callable[[Polynomial, Sequence[Constraint]], bool]
"""Whether a polynomial is provably at least 0 under constraints."""


class Terms:
    """Translates the expressions of one tree; every integer that never changes in it is a parameter."""

    def __init__(self, names: Names, is_nonnegative: Proof, prefix: str = "@") -> None:
        self._prefix = prefix
        self._names = names
        self._varying = names.varying
        self._is_nonnegative = is_nonnegative
        self._count = 0
        self._made: dict[object, Polynomial] = {}

    def fresh(self) -> Polynomial:
        """A new iteration symbol."""
        self._count += 1
        return Polynomial.symbol(f"{self._prefix}{self._count}")

    def polynomial(self, node: Any, scope: Scope) -> tuple[Polynomial | None, Scope]:
        """The value of an integer expression, and the scope with the quotients that it needs."""
        result = None
        match type(node).__name__:
            case "Constant":
                result = literal(node)
            case "ID":
                return self._name(node.name, scope), scope
            case "Cast" if self._holds_any_index(node.to_type):
                result, scope = self.polynomial(node.expr, scope)
                if result is not None and not self._is_kept(result.value, node.to_type):
                    result = None
            case "UnaryOp" if node.op in {"-", "+"}:
                operand, scope = self.polynomial(node.expr, scope)
                result = operand.scaled(-1) if operand is not None and node.op == "-" else operand
            case "BinaryOp":
                result, scope = self._binary(node, scope)
            case "FuncCall" | "TernaryOp":
                result, scope = self._choice(node, scope)
            case _:
                pass
        if result is None:
            result = self._invariant(node, scope)
        if result is not None and len(result.terms) > MAXIMUM_TERMS:
            result = None
        return result, scope

    def _name(self, name: str, scope: Scope) -> Polynomial | None:
        if name in scope.values:
            return scope.values[name]
        return Polynomial.symbol(name) if self._is_parameter(name) else None

    def _holds_any_index(self, type_node: Any) -> bool:
        return is_wide_integer(type_node, self._names.types)

    def _is_kept(self, value: int | None, type_node: Any) -> bool:
        """Whether a conversion leaves a number as it is; a sum of variables is taken to fit."""
        kind = integer_type(type_node, self._names.types)
        if value is None or kind is None or kind.rank > Rank.INT or kind.limits is None:
            return True
        return kind.limits[0] <= value <= kind.limits[1]

    def _is_parameter(self, name: str) -> bool:
        if name in self._varying:
            return False
        declaration = self._names.declarations.get(name)
        if declaration is None:
            return True
        return not (declaration.is_floating or declaration.is_array_like)

    def _binary(self, node: Any, scope: Scope) -> tuple[Polynomial | None, Scope]:
        left, scope = self.polynomial(node.left, scope)
        right, scope = self.polynomial(node.right, scope)
        if left is None or right is None:
            return None, scope
        match node.op:
            case "+":
                return left + right, scope
            case "-":
                return left - right, scope
            case "*":
                small = len(left.terms) * len(right.terms) <= MAXIMUM_TERMS
                return (left * right if small else None), scope
            case "<<" if right.value is not None and 0 <= right.value < 31:
                return left.scaled(1 << right.value), scope
            case ">>" if right.value is not None and 0 <= right.value < 31:
                return self._quotient(node, left, 1 << right.value, scope, floors=True)
            case "/" if right.value is not None and right.value > 0:
                return self._quotient(node, left, right.value, scope)
            case "%" if right.value is not None and right.value > 0:
                quotient, scope = self._quotient(node, left, right.value, scope)
                return (None if quotient is None else left - quotient.scaled(right.value)), scope
            case _:
                return None, scope

    def _quotient(
        self, node: Any, value: Polynomial, divisor: int, scope: Scope, *, floors: bool = False
    ) -> tuple[Polynomial | None, Scope]:
        """C division truncates: it is the floor where the value is not negative, else the ceiling."""
        if divisor == 1:
            return value, scope
        if value.linear() is None:
            return None, scope
        same = node if floors else c_ast.BinaryOp("/", node.left, node.right)
        quotient = self._made_of((floors, divisor, value.key), same, scope)
        rest = value - quotient.scaled(divisor)
        floor = (rest, rest.scaled(-1).shifted(divisor - 1))
        if floors or self._is_nonnegative(value, scope.known):
            return quotient, replace(scope, domain=(*scope.domain, *floor))
        negative = value.scaled(-1)
        ceiling = (negative.shifted(-1), rest.scaled(-1), rest.shifted(divisor - 1))
        return quotient, scope.split(((value, *floor), ceiling))

    def _choice(self, node: Any, scope: Scope) -> tuple[Polynomial | None, Scope]:
        """`min`, `max` and `?:` as a new integer that is one of the operands."""
        for smallest in (True, False):
            operands = self._operands(node, scope, smallest)
            if len(operands) == 2:
                return self._extreme(node, operands, scope, smallest)
        if type(node).__name__ != "TernaryOp":
            return None, scope
        chosen: list[tuple[Polynomial, Scope]] = []
        for truth, operand in ((True, node.iftrue), (False, node.iffalse)):
            inner = self.condition(node.cond, scope, truth)
            value, inner = self.polynomial(operand, inner)
            if value is None or value.linear() is None or inner.why != scope.why:
                return None, scope
            chosen.append((value, inner))
        names = [part.name for part in walk(node) if isinstance(part, c_ast.ID)]
        known = tuple((name, scope.values[name].key) for name in names if name in scope.values)
        result = self._made_of((emit_expression(node), known), node, scope)
        found = [inner.restricted(relation(result, "==", value), None) for value, inner in chosen]
        return result, scope.either(found)

    def _extreme(
        self, node: Any, operands: list[Any], scope: Scope, smallest: bool
    ) -> tuple[Polynomial | None, Scope]:
        values: list[Polynomial] = []
        for operand in operands:
            value, scope = self.polynomial(operand, scope)
            if value is None or value.linear() is None:
                return None, scope
            values.append(value)
        result = self._made_of((smallest, frozenset(value.key for value in values)), node, scope)
        within, beyond = ("<=", ">=") if smallest else (">=", "<=")
        scope = scope.restricted([c for v in values for c in relation(result, within, v)], None)
        return result, scope.split(tuple(relation(result, beyond, value) for value in values))

    def _made_of(self, key: object, node: Any, scope: Scope) -> Polynomial:
        """The integer that stands for an expression: the same one for the same function of iterations."""
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._invariant(node, scope) or self.fresh()
        return found

    def _invariant(self, node: Any, scope: Scope) -> Polynomial | None:
        """An expression of which no part changes is a parameter under its own text."""
        for part in walk(node):
            if not self._is_invariant_part(part, scope):
                return None
        return Polynomial.symbol(emit_expression(node))

    def _is_invariant_part(self, part: Any, scope: Scope) -> bool:
        match type(part).__name__:
            case "ID":
                declaration = self._names.declarations.get(part.name)
                floating = declaration is not None and declaration.is_floating
                known = part.name in scope.values and part.name not in scope.fixed
                return not known and part.name not in self._varying and not floating
            case "Constant":
                return literal(part) is not None
            case "FuncCall":
                return getattr(part.name, "name", None) in MINIMUM_NAMES | MAXIMUM_NAMES
            case "UnaryOp":
                return part.op in _INVARIANT_UNARY
            case "Cast":
                return self._holds_any_index(part.to_type)
            case "StructRef":
                reference = resolve(part, self._names)
                return reference is not None and reference.name not in self._varying
            case kind:
                return kind in _INVARIANT_NODES

    def condition(self, node: Any, scope: Scope, truth: bool = True) -> Scope:
        """The scope in which the condition is true, or false; it may be larger than that."""
        return scope.either(self._alternatives(node, scope, truth))

    def _alternatives(self, node: Any, scope: Scope, truth: bool) -> list[Scope]:
        """The ways in which a condition can be true, or false."""
        kind = type(node).__name__
        if kind == "UnaryOp" and node.op == "!":
            return self._alternatives(node.expr, scope, not truth)
        if kind == "BinaryOp" and node.op == ("&&" if truth else "||"):
            first = self._alternatives(node.left, scope, truth)
            return [found for inner in first for found in self._alternatives(node.right, inner, truth)]
        if kind == "BinaryOp" and node.op in {"&&", "||"}:
            first = self._alternatives(node.left, scope, truth)
            return [*first, *self._alternatives(node.right, scope, truth)]
        if kind == "BinaryOp" and node.op in NEGATED:
            left, inner = self.polynomial(node.left, scope)
            right, inner = self.polynomial(node.right, inner)
            op = node.op if truth else NEGATED[node.op]
            if left is not None and right is not None:
                if (difference := (left - right).value) is not None:
                    holds = _COMPARE[op](difference, 0)
                    return [inner if holds else inner.restricted((NEVER,), None)]
                ways = ("<", ">") if op == "!=" else (op,)
                return [inner.restricted(relation(left, way, right), None) for way in ways]
        value, inner = self.polynomial(node, scope)
        if value is not None and value.value is None:
            return [
                inner.restricted(relation(value, way, _ZERO), None)
                for way in (("<", ">") if truth else ("==",))
            ]
        return [scope.restricted((), f"the condition `{emit_expression(node)}` is not affine")]

    def extremes(self, node: Any, scope: Scope, smallest: bool) -> list[Any]:
        """The operands of nested `min` (or `max`) calls and of the conditionals that mean the same."""
        operands = self._operands(node, scope, smallest)
        if operands == [node]:
            return operands
        return [leaf for operand in operands for leaf in self.extremes(operand, scope, smallest)]

    def _operands(self, node: Any, scope: Scope, smallest: bool) -> list[Any]:
        """The operands of a `min` (or `max`), or of a conditional that means the same; else the node."""
        match type(node).__name__:
            case "FuncCall" if node.args is not None:
                names = MINIMUM_NAMES if smallest else MAXIMUM_NAMES
                return list(node.args.exprs) if getattr(node.name, "name", None) in names else [node]
            case "TernaryOp" if self._chooses(node, scope, smallest):
                return [node.iftrue, node.iffalse]
            case _:
                return [node]

    def _chooses(self, node: Any, scope: Scope, smallest: bool) -> bool:
        """Whether `a < b ? c : d` takes the smaller (or larger) of c and d.

        That is so if a - b is c - d, or d - c, and of integers also if it is one less; for `<=` one more.
        """
        test = node.cond
        if type(test).__name__ != "BinaryOp" or test.op not in _SLACK:
            return False
        values: list[Polynomial] = []
        for part in (test.left, test.right, node.iftrue, node.iffalse):
            value, scope = self.polynomial(part, scope)
            if value is None:
                return False
            values.append(value)
        left, right, iftrue, iffalse = values
        takes_smaller = test.op.startswith("<")
        slack = {0, _SLACK[test.op]}
        if (left - right - (iftrue - iffalse)).value in slack:
            return takes_smaller == smallest
        return (left - right - (iffalse - iftrue)).value in slack and takes_smaller != smallest


def literal(node: Any) -> Polynomial | None:
    """The value of an integer literal."""
    text = str(node.value).lower().rstrip("ul")
    if "int" not in node.type or not text.isalnum():
        return None
    base = 16 if text.startswith("0x") else 2 if text.startswith("0b") else 8 if text.startswith("0") else 10
    return Polynomial.constant(int(text, base))


def is_wide_integer(type_node: Any, types: Mapping[str, str]) -> bool:
    """Whether a type is an integer that holds any array index; `types` are what typedefs' names stand for."""
    known = integer_type(type_node, types)
    return known is not None and known.rank >= Rank.INT


def integer_type(type_node: Any, types: Mapping[str, str]) -> CType | None:
    """The type of integers that a type's node names; None for others."""
    names: list[str] = []
    for part in walk(type_node):
        if type(part).__name__ in {"PtrDecl", "ArrayDecl", "Struct", "Union", "Enum", "FuncDecl"}:
            return None
        names.extend(getattr(part, "names", None) or ())
    text = " ".join(names)
    known = ctype(types.get(text, text))
    return known if known is not None and known.rank <= Rank.LONG_LONG else None
