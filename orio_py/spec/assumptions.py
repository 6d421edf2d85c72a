"""What the user promises about a region's data and arithmetic, beyond what the code says."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.source import Position


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The section `assumptions` of a specification.

    `noalias` are the arrays that share memory with nothing else that the region uses, or True for all of
    them; `reassociate` allows transformations that change the order of floating-point additions.
    `position` is the place of `noalias`.
    """

    noalias: bool | frozenset[str] = False
    reassociate: bool = False
    position: Position | None = None
