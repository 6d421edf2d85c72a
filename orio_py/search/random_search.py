"""Random search: configurations drawn uniformly from the valid ones, none twice.

J. Bergstra and Y. Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.search.base import Search, SearchContext, batches
from orio_py.search.options import IntegerOption, setting
from orio_py.search_space.sampling import shuffled_ranks


@dataclass(frozen=True, slots=True)
class RandomOptions:
    """`local_distance` is understood and has no effect, as in Orio: `randomlocal` is the search that looks around the best."""

    local_distance: int = setting(0, IntegerOption(0, 8))


def random_search(context: SearchContext, options: RandomOptions) -> Search:
    """All configurations of the space in random order, every order equally likely."""
    space = context.space
    ranks = shuffled_ranks(space.size, context.rng)
    return batches((space.at(rank) for rank in ranks), context.batch_size)
