"""Random search with descents: some random configurations, then from the best of them down to a minimum.

Orio's `Randomlocal` is meant so (its local part is switched off): A. Hartono, B. Norris and P. Sadayappan,
"Annotation-Based Empirical Performance Tuning Using Orio", IPDPS 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import best_of_random, descend
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, setting


@dataclass(frozen=True, slots=True)
class RandomLocalOptions:
    """`samples` are the random trials before each descent; `local_distance` is how many steps to a next
    value, in any parameters, a neighbour is away at most.
    """

    samples: int = setting(20, IntegerOption(1, 10**6))
    local_distance: int = setting(1, IntegerOption(0, 4))


def random_local(context: SearchContext, options: RandomLocalOptions) -> Search:
    """Random trials and a descent in turn."""
    return restarted(context, partial(sample_and_descend, options=options))


def sample_and_descend(memory: Memory, options: RandomLocalOptions) -> Asking[None]:
    """One round: the samples, and the descent from the best of them."""
    start = yield from best_of_random(memory, options.samples)
    yield from descend(memory, start, distance=options.local_distance)
