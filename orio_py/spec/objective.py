"""What a search minimises, where that is not the time alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from orio_py.core.expr import Expr, names_in
from orio_py.core.source import Position
from orio_py.spec.counters import TIMES


@dataclass(frozen=True, slots=True)
class Objective:
    """An expression over times (seconds) and counters of one execution of the kernel; less is better."""

    text: str
    expression: Expr
    position: Position | None = field(default=None, compare=False)

    @property
    def counters(self) -> tuple[str, ...]:
        """The counters that it needs, sorted."""
        return tuple(sorted(names_in(self.expression) - set(TIMES)))
