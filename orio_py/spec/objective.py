"""What a search minimises, where that is not the time alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from orio_py.core.expr import Expr, names_in
from orio_py.core.source import Position
from orio_py.spec.counters import TIMES


@dataclass(frozen=True, slots=True)
class Objective:
    """An expression over times (seconds) and counters of one execution of the kernel; less is better.

    `others` are the further objectives of a search that has several: this one ranks variants, and no variant is
    dismissed that is better by another one.
    """

    text: str
    expression: Expr
    position: Position | None = field(default=None, compare=False)
    others: tuple[Objective, ...] = ()

    @property
    def counters(self) -> tuple[str, ...]:
        """The counters that it and the others need, sorted."""
        names = frozenset[str]().union(*(names_in(one.expression) for one in self.all))
        return tuple(sorted(names - set(TIMES)))

    @property
    def all(self) -> tuple[Objective, ...]:
        """The objective itself, then the others."""
        return (self, *self.others)

    @property
    def texts(self) -> tuple[str, ...]:
        """The expressions of all of them."""
        return tuple(one.text for one in self.all)
