"""What is known at a place in a tree: the iterations that come there, as affine constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node

MOST_CASES = 16
"""Combinations of alternatives that are told apart; beyond, any of them is assumed."""

Constraint = Polynomial
"""A polynomial that is at least 0."""

NEVER = Polynomial.constant(-1)
"""A constraint that nothing fulfils."""

Alternatives = tuple[tuple[Constraint, ...], ...]
"""Lists of constraints of which at least one list holds, as in `i != j`: below or above."""


@dataclass(frozen=True, slots=True)
class Level:
    """A loop around an access; `symbol` counts its iterations upward in steps of `scale`."""

    symbol: str
    index: str
    scale: int
    node: Node


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known at a place in the tree.

    `values` are the names with a known value, `domain` the constraints on the iterations that come
    here, and `cases` alternatives of which each holds, too.  `private` are the names declared on the way
    and how many subscripts stay in their own storage, `unset` the integers among them without a first value, `path` is the place in the fusable structure,
    `fixed` are the indices of loops around the nest and `outer` what is known of them, and `why` says, if it
    is not None, why the domain holds more than the true iterations.
    """

    values: Mapping[str, Polynomial] = field(default_factory=dict[str, Polynomial])
    domain: tuple[Constraint, ...] = ()
    cases: tuple[Alternatives, ...] = ()
    levels: tuple[Level, ...] = ()
    private: Mapping[str, int] = field(default_factory=dict[str, int])
    path: tuple[int, ...] = ()
    fixed: frozenset[str] = frozenset()
    outer: tuple[Constraint, ...] = ()
    fusable: bool = True
    why: str | None = None
    unset: frozenset[str] = frozenset()

    @property
    def known(self) -> tuple[Constraint, ...]:
        """All that is known of the iterations here and of the loops around the nest."""
        return self.outer + self.domain

    def restricted(self, constraints: Sequence[Constraint], why: str | None) -> Scope:
        """The scope with further constraints; those that are not affine are left out, but for products of two factors."""
        kept = tuple(c for c in constraints if c.relaxed() is not None)
        if why is None and any(c.linear() is None for c in constraints):
            why = "a bound or condition is not affine"
        if not kept and (why is None or self.why):
            return self
        # Spelt out, as this is asked most: `replace` takes five times as long.
        return Scope(
            self.values,
            self.domain + kept,
            self.cases,
            self.levels,
            self.private,
            self.path,
            self.fixed,
            self.outer,
            self.fusable,
            self.why or why,
            self.unset,
        )

    def either(self, alternatives: Sequence[Scope]) -> Scope:
        """The scope in which one of several, all made from this one by restriction, holds."""
        if len(alternatives) == 1:
            return alternatives[0]
        own = len(self.domain)
        lists: list[tuple[Constraint, ...]] = []
        for scope in alternatives:
            more = product(*scope.cases[len(self.cases) :])
            lists.extend(scope.domain[own:] + tuple(c for part in choice for c in part) for choice in more)
        why = next((scope.why for scope in alternatives if scope.why is not None), None)
        return self.split(tuple(lists), why)

    def split(self, alternatives: Alternatives, why: str | None = None) -> Scope:
        """The scope with one further choice."""
        if prod(map(len, self.cases)) * len(alternatives) > MOST_CASES:
            return replace(self, why=self.why or why or "too many conditions are combined")
        return replace(self, cases=(*self.cases, alternatives), why=self.why or why)


def relation(left: Polynomial, op: str, right: Polynomial) -> tuple[Constraint, ...]:
    """The constraints that say `left op right`."""
    match op:
        case "<":
            return ((right - left).shifted(-1),)
        case "<=":
            return (right - left,)
        case ">":
            return ((left - right).shifted(-1),)
        case ">=":
            return (left - right,)
        case _:
            return (left - right, right - left)
