"""Random search: configurations drawn uniformly from the valid ones, none twice.

J. Bergstra and Y. Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.search.base import Search, SearchContext, batches
from orio_py.search_space.sampling import shuffled_ranks


@dataclass(frozen=True, slots=True)
class RandomOptions:
    """Random search has no options; its seed is the session's."""


def random_search(context: SearchContext, options: RandomOptions) -> Search:
    """All configurations of the space in random order, every order equally likely."""
    space = context.space
    ranks = shuffled_ranks(space.size, context.rng)
    return batches((space.at(rank) for rank in ranks), context.batch_size)
