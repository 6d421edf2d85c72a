"""The default: a few configurations far from each other, then those that a model expects most of.

Trials of the same task under other circumstances suggest others between them, which change nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, setting
from orio_py.search.suggestions import apart, with_suggestions

TINY = 32
"""Up to this size a space is tried in random order: a model would not be asked often enough to pay."""


@dataclass(frozen=True, slots=True)
class AutoOptions:
    """`start` is how many configurations are tried before the model is asked; `batch` is how many are
    proposed at once at most, whatever could be built in parallel: the model learns between batches.
    After so many trials as `explore` says one is chosen where little is known, never with 0.  `roundness`
    is how much less those and the first ones want each value that is no power of two (logarithm of the
    weight).
    """

    start: int = setting(8, IntegerOption(1, 1000))
    batch: int = setting(8, IntegerOption(1, 1000))
    explore: int = setting(3, IntegerOption(0, 1000))
    roundness: float = setting(0.7, RealOption(0, 10))


def auto(context: SearchContext, options: AutoOptions) -> Search:
    """A spread-out start, then what the model proposes until every configuration was tried.

    With a past, what that suggests comes between.
    """
    context = replace(context, batch_size=min(context.batch_size, options.batch))
    search = restarted(context, lambda memory: _guided(memory, options))
    if not context.past or context.space.size <= TINY:
        return search
    return restarted(apart(context), lambda memory: with_suggestions(search, memory, context.past))


def _guided(memory: Memory, options: AutoOptions) -> Asking[None]:
    if memory.space.size <= TINY:
        yield from memory.ask(memory.draw_many(memory.space.size))
        return
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.search.acquisition_policy import AcquisitionPolicy

    guide = AcquisitionPolicy(memory, explore=options.explore, roundness=options.roundness)
    yield from memory.ask(guide.spread_out(options.start))
    while True:
        yield from memory.ask(guide.propose(memory.batch_size))
