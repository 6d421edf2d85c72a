"""Multi-start local search: from the best of a few random configurations to the next better neighbour,
until there is none; then from others.

R. Martí, "Multi-Start Methods", in: Handbook of Metaheuristics, Kluwer, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import NEIGHBOURHOODS, best_of_random, descend
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, Word, setting


@dataclass(frozen=True, slots=True)
class MultistartOptions:
    """`neighbourhood` is `hamming` (any other value of one parameter) or `adjacent` (the next ones);
    `samples` the random trials of which the best is the start.
    """

    neighbourhood: str = setting("hamming", Word(NEIGHBOURHOODS))
    samples: int = setting(10, IntegerOption(1, 10**6))


def multistart(context: SearchContext, options: MultistartOptions) -> Search:
    """Descents from random configurations, first improvement in random order."""
    return restarted(context, partial(descent_from_random, options=options))


def descent_from_random(memory: Memory, options: MultistartOptions) -> Asking[None]:
    """One descent."""
    start = yield from best_of_random(memory, options.samples)
    yield from descend(memory, start, options.neighbourhood)
