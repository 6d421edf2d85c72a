"""Which parameters depend on each other: constraints taken apart, parameters put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orio_py.core.expr import BoolOp, Expr
from orio_py.search_space.algebra import Algebra, Variable
from orio_py.search_space.terms import Term
from orio_py.spec.parameter import Constraint


@dataclass(frozen=True, slots=True, eq=False)
class Conjunct:
    """A constraint, or one operand of a constraint's outermost `and`."""

    constraint: Constraint
    expression: Expr
    term: Term


@dataclass(frozen=True, slots=True)
class ConnectedVariables:
    """Variables that conjuncts connect, in written order, and those conjuncts."""

    variables: tuple[Variable, ...]
    conjuncts: tuple[Conjunct, ...]


def conjuncts_of(constraint: Constraint, algebra: Algebra) -> Iterator[Conjunct]:
    """The parts of a constraint that all have to hold."""
    stack: list[Expr] = [constraint.expression]
    while stack:
        expression = stack.pop()
        if isinstance(expression, BoolOp) and expression.operator == "and":
            stack.extend(reversed(expression.operands))
        else:
            yield Conjunct(constraint, expression, algebra.condition(expression))


def clusters(variables: Sequence[Variable], conjuncts: Sequence[Conjunct]) -> tuple[ConnectedVariables, ...]:
    """Connected variables together, by union and find; ordered by their first variable."""
    parent = list(range(len(variables)))

    def find(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for conjunct in conjuncts:
        members = members_of(conjunct.term.mask)
        for other in members[1:]:
            first, second = find(members[0]), find(other)
            parent[max(first, second)] = min(first, second)
    return tuple(
        ConnectedVariables(
            tuple(variable for variable in variables if find(variable.index) == root),
            tuple(c for c in conjuncts if c.term.mask and find(members_of(c.term.mask)[0]) == root),
        )
        for root in range(len(variables))
        if parent[root] == root
    )


def members_of(mask: int) -> list[int]:
    """The positions of the bits that are set, ascending."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
