"""The tree of an expression, and the values that expressions are evaluated to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from orio_py.core.source import Position

Value: TypeAlias = "int | float | bool | str | tuple[Value, ...] | list[Value] | None"
"""What an expression evaluates to; lists and tuples stay distinct."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as such: a number, a string, True, False or None."""

    value: Value
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, an earlier `let`, or a variable of a comprehension."""

    name: str
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ListExpr:
    """`[a, b]`."""

    items: tuple[Expr, ...]
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TupleExpr:
    """`(a, b)`."""

    items: tuple[Expr, ...]
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-a`, `+a` or `not a`."""

    operator: str
    operand: Expr
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic: `+ - * / // % **` between two operands."""

    operator: str
    left: Expr
    right: Expr
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BoolOp:
    """A chain of `and`, or of `or`; evaluation stops as soon as the answer is known."""

    operator: str
    operands: tuple[Expr, ...]
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain of comparisons: `a < b <= c` is `a < b and b <= c`, with `b` evaluated once."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    """`then if condition else otherwise`."""

    condition: Expr
    then: Expr
    otherwise: Expr
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the functions in `core.expr_functions`."""

    function: str
    arguments: tuple[Expr, ...]
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Subscript:
    """`value[index]`."""

    value: Expr
    index: Expr
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Clause:
    """`for targets in iterable if condition …` of a comprehension."""

    targets: tuple[str, ...]
    iterable: Expr
    conditions: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[element for … in … if …]`; a list."""

    element: Expr
    clauses: tuple[Clause, ...]
    position: Position | None = field(default=None, compare=False)


Expr: TypeAlias = (
    Literal
    | Name
    | ListExpr
    | TupleExpr
    | Unary
    | Binary
    | BoolOp
    | Compare
    | Conditional
    | Call
    | Subscript
    | Comprehension
)
"""An expression."""


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions, in the order written."""
    match expr:
        case Literal() | Name():
            return ()
        case ListExpr(items) | TupleExpr(items):
            return items
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case BoolOp(operands=operands):
            return operands
        case Compare(first, rest):
            return (first, *(operand for _, operand in rest))
        case Conditional(condition, then, otherwise):
            return (condition, then, otherwise)
        case Call(arguments=arguments):
            return arguments
        case Subscript(value, index):
            return (value, index)
        case Comprehension(element, clauses):
            parts = tuple(part for clause in clauses for part in (clause.iterable, *clause.conditions))
            return (element, *parts)


def names_in(expr: Expr) -> frozenset[str]:
    """The free names: those that the environment has to define.

    >>> sorted(names_in(Binary("+", Name("N"), Literal(1))))
    ['N']
    """
    match expr:
        case Name(name):
            return frozenset({name})
        case Comprehension(element, clauses):
            return _free_in_comprehension(element, clauses)
        case _:
            return frozenset[str]().union(*(names_in(child) for child in children(expr)))


def _free_in_comprehension(element: Expr, clauses: tuple[Clause, ...]) -> frozenset[str]:
    free: set[str] = set()
    bound: set[str] = set()
    for clause in clauses:
        free |= names_in(clause.iterable) - bound
        bound |= set(clause.targets)
        for condition in clause.conditions:
            free |= names_in(condition) - bound
    return frozenset(free | (names_in(element) - bound))


def name_positions(expr: Expr) -> tuple[tuple[str, Position | None], ...]:
    """Each free name with the place of its first use."""
    free = names_in(expr)
    found: dict[str, Position | None] = {}
    stack: list[Expr] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Name) and node.name in free:
            found.setdefault(node.name, node.position)
        stack.extend(reversed(children(node)))
    return tuple(found.items())


def depth(expr: Expr) -> int:
    """The height of the tree, found without recursion."""
    deepest = 0
    stack: list[tuple[Expr, int]] = [(expr, 1)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        stack.extend((child, level + 1) for child in children(node))
    return deepest


def show(value: Value) -> str:
    """A value as it would be written in a specification.

    >>> print(show([1, 2.5, (True,), "axpy"]))
    [1, 2.5, (True,), 'axpy']
    """
    match value:
        case list():
            return f"[{', '.join(show(item) for item in value)}]"
        case tuple():
            inner = ", ".join(show(item) for item in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case _:
            return repr(value)


def weight(value: Value, most: int) -> int:
    """How many values a value consists of, counted up to `most`."""
    count = 0
    stack: list[Value] = [value]
    while stack and count <= most:
        item = stack.pop()
        count += 1
        if isinstance(item, (list, tuple)):
            count += len(item) if len(item) > most else 0
            stack.extend(item[:most])
    return count


def bind(expr: Expr, values: Mapping[str, Value]) -> Expr:
    """The expression with the given free names replaced by their values."""
    if not values or not (names_in(expr) & values.keys()):
        return expr

    def go(part: Expr) -> Expr:
        return bind(part, values)

    match expr:
        case Literal():
            return expr
        case Name(name, position):
            return Literal(values[name], position)
        case ListExpr(items) | TupleExpr(items):
            return replace(expr, items=tuple(map(go, items)))
        case Unary(operand=operand):
            return replace(expr, operand=go(operand))
        case Binary(left=left, right=right):
            return replace(expr, left=go(left), right=go(right))
        case BoolOp(operands=operands):
            return replace(expr, operands=tuple(map(go, operands)))
        case Compare(first, rest):
            return replace(expr, first=go(first), rest=tuple((op, go(operand)) for op, operand in rest))
        case Conditional(condition, then, otherwise):
            return replace(expr, condition=go(condition), then=go(then), otherwise=go(otherwise))
        case Call(arguments=arguments):
            return replace(expr, arguments=tuple(map(go, arguments)))
        case Subscript(value, index):
            return replace(expr, value=go(value), index=go(index))
        case Comprehension():
            return _bind_comprehension(expr, dict(values))


def _bind_comprehension(expr: Comprehension, values: dict[str, Value]) -> Comprehension:
    clauses: list[Clause] = []
    for clause in expr.clauses:
        iterable = bind(clause.iterable, values)
        for target in clause.targets:
            values.pop(target, None)
        conditions = tuple(bind(condition, values) for condition in clause.conditions)
        clauses.append(Clause(clause.targets, iterable, conditions))
    return replace(expr, element=bind(expr.element, values), clauses=tuple(clauses))
