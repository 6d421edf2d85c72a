"""What the user promises about a region's data and arithmetic, beyond what the code says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum

from orio_py.core.source import Position


class Promise(StrEnum):
    """What can be promised of whole files, without a place in them."""

    NOALIAS = "noalias"
    REASSOCIATE = "reassociate"
    CALLS = "calls"
    LONGER = "longer"


SPARE_ROWS = 8
"""How much longer than declared arrays are that are promised to be."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The section `assumptions` of a specification.

    `noalias` are the arrays that share memory with nothing else that the region uses, or True for all of
    them; `reassociate` allows transformations that change the order of floating-point additions; with `calls` statements
    that call a function without a known body may be executed in any order or at once, and touch nothing that the region uses.
    `position` is the place of `noalias`.  With `longer` the arrays that the specification declares have `SPARE_ROWS` more
    elements, or rows, at their end.
    """

    noalias: bool | frozenset[str] = False
    reassociate: bool = False
    calls: bool = False
    longer: bool = False
    position: Position | None = None

    def with_promises(self, promises: Collection[Promise]) -> Assumptions:
        """These, and what is promised for all names and operations."""
        return replace(
            self,
            noalias=True if Promise.NOALIAS in promises else self.noalias,
            reassociate=self.reassociate or Promise.REASSOCIATE in promises,
            calls=self.calls or Promise.CALLS in promises,
            longer=self.longer or Promise.LONGER in promises,
        )
