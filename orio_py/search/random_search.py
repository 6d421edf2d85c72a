"""Random search: configurations drawn uniformly from the valid ones, none twice.

J. Bergstra and Y. Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.search.base import Search, SearchContext, batches
from orio_py.space.sampling import shuffled_ranks
from orio_py.space.search_space import SearchSpace


@dataclass(frozen=True, slots=True)
class RandomOptions:
    """Random search has no options; its seed is the session's."""

    @classmethod
    def read(
        cls, options: Mapping[str, Value], space: SearchSpace, position: Position | None
    ) -> RandomOptions:
        """Nothing to check."""
        return cls()


def random_search(context: SearchContext, options: RandomOptions) -> Search:
    """All configurations of the space in random order, every order equally likely."""
    space = context.space
    ranks = shuffled_ranks(space.size, context.rng)
    return batches((space.at(rank) for rank in ranks), context.batch_size)
