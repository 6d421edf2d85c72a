"""What the user promises about a region's data and arithmetic, beyond what the code says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The section `assumptions` of a specification.

    `noalias` are the pointers and array parameters that overlap no other array of the region, or True for
    all of them; `reassociate` allows transformations that change the order of floating-point additions.
    """

    noalias: bool | frozenset[str] = False
    reassociate: bool = False
