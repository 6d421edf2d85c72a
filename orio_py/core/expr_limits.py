"""Limits that keep every expression small and quick, and the meter that watches them."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position


@dataclass(frozen=True, slots=True)
class Limits:
    """`steps`: evaluation steps and created elements together; `elements`: the length of one list or
    string; `bits`: the size of one integer.
    """

    steps: int = 1_200_000
    elements: int = 1_000_000
    bits: int = 13_000


DEFAULT_LIMITS = Limits()


class EvaluationMeter:
    """Counts what one evaluation has used."""

    __slots__ = ("limits", "used")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.used = 0

    def step(self, count: int, position: Position | None) -> None:
        """Charge steps.  Raises ORIO-E006."""
        self.used += count
        if self.used > self.limits.steps:
            fail(
                "ORIO-E006",
                f"the expression takes more than {self.limits.steps} evaluation steps",
                position,
                help="write a smaller range or list",
            )

    def create(self, count: int, what: str, position: Position | None) -> None:
        """Charge a list or string of `count` elements before it is made.  Raises ORIO-E006."""
        if count > self.limits.elements:
            shown = str(count) if count < 10**18 else "more than 10**18"
            fail(
                "ORIO-E006",
                f"{what} would have {shown} elements; at most {self.limits.elements} are allowed",
                position,
            )
        self.step(count, position)

    def integer(self, bits: int, position: Position | None) -> None:
        """Accept an integer of about `bits` bits.  Raises ORIO-E006."""
        if bits > self.limits.bits:
            fail(
                "ORIO-E006",
                f"the integer would have more than {self.limits.bits} bits",
                position,
                help="numbers of a specification are at most about 10**3900",
            )
        self.step(bits >> 6, position)
