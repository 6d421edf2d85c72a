"""Exhaustive search: every configuration of the space, in rank order.

The first parameter of `SearchSpace.order` changes slowest, each takes its values in the order written.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.search.base import Search, SearchContext, batches
from orio_py.search.options import Coordinate, setting


@dataclass(frozen=True, slots=True)
class ExhaustiveOptions:
    """`start_coord`: the place in each parameter's list, in written order, from which to go on."""

    start_coord: tuple[int, ...] | None = setting(None, Coordinate())


def exhaustive(context: SearchContext, options: ExhaustiveOptions) -> Search:
    """Every configuration once, from the start coordinate on."""
    space = context.space
    start = 0 if options.start_coord is None else space.first_rank_from(options.start_coord)
    return batches(space.enumerate(start), context.batch_size)
