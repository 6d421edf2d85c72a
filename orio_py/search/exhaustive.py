"""Exhaustive search: every configuration of the space, in rank order.

The first parameter of `SearchSpace.order` changes slowest, each takes its values in the order written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.search.base import Search, SearchContext, batches
from orio_py.search.options import read_coordinate
from orio_py.space.search_space import SearchSpace


@dataclass(frozen=True, slots=True)
class ExhaustiveOptions:
    """`start_coord`: the place in each parameter's list, in written order, from which to go on."""

    start_coord: tuple[int, ...] | None = None

    @classmethod
    def read(
        cls, options: Mapping[str, Value], space: SearchSpace, position: Position | None
    ) -> ExhaustiveOptions:
        """Check the values.  Raises ORIO-P023."""
        if options.get("start_coord") is None:
            return cls()
        sizes = {parameter.name: len(parameter.values) for parameter in space.parameters}
        return cls(read_coordinate("start_coord", options["start_coord"], sizes, position))


def exhaustive(context: SearchContext, options: ExhaustiveOptions) -> Search:
    """Every configuration once, from the start coordinate on."""
    space = context.space
    start = 0 if options.start_coord is None else space.first_rank_from(options.start_coord)
    return batches(space.enumerate(start), context.batch_size)
