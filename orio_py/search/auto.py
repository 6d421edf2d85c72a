"""The default: a few configurations far from each other, then those that a model expects most of.

A model of speed may know beforehand what is to be expected, by static features.  What it says of the first trials is compared
with what was measured (`EarnedTrust`): if that agrees, the best of a ranking are tried next, and the model of the trials goes on
with what it predicts, as far as trials bear it out (`TransferWeight`).  Trials of the same task under other circumstances suggest
others between them, which change nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from orio_py.search.base import FeatureSource, PastSeries, Search, SearchContext, TrustListener, unheard
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import FileName, IntegerOption, RealOption, setting

if TYPE_CHECKING:
    from orio_py.search.trust import EarnedTrust

TINY = 32
"""Up to this size a space is tried in random order: a model would not be asked often enough to pay."""

OWN_PER_SUGGESTION = 5
"""After so many trials of its own a search tries one that the past suggests: a past costs a fifth more at most."""

SAMPLE = 150
"""So many random configurations are ranked when the trials agree with the model.

Neighbours of the best are not: what is best of many predictions is where the model errs most.
"""

PREDICTED_FIRST = 3
"""So many of the ranking's best are tried as soon as it is believed."""


@dataclass(frozen=True, slots=True)
class AutoOptions:
    """`start` is how many configurations are tried before the model is asked; `batch` is how many are
    proposed at once at most, whatever could be built in parallel: the model learns between batches.
    After so many trials as `explore` says one is chosen where little is known, never with 0.  `roundness`
    is how much less those and the first ones want each value that is no power of two (logarithm of the
    weight).  With `predict` the model of speed in the file `model`, or the one that comes with the program, is asked as well:
    it is followed where it agrees with the trials.
    """

    start: int = setting(8, IntegerOption(1, 1000))
    batch: int = setting(8, IntegerOption(1, 1000))
    explore: int = setting(3, IntegerOption(0, 1000))
    roundness: float = setting(0.7, RealOption(0, 10))
    predict: int = setting(0, IntegerOption(0, 1))
    model: str | None = setting(None, FileName())


def auto(context: SearchContext, options: AutoOptions) -> Search:
    """A spread-out start, then what the model proposes until every configuration was tried.

    With a past, what that suggests comes between; without one, what static features predict comes first.
    Raises DiagnosticError as `orio_py.model.speed.catalog.load_speed_model`.
    """
    context = replace(context, batch_size=min(context.batch_size, options.batch))
    source = context.features if options.predict and not context.past else None
    search = restarted(context, lambda memory: guided(memory, options, source, context.trusted))
    if not context.past or context.space.size <= TINY:
        return search
    return restarted(_apart(context), lambda memory: _with_suggestions(search, memory, context.past))


def guided(
    memory: Memory,
    options: AutoOptions,
    source: FeatureSource | None = None,
    listener: TrustListener = unheard,
) -> Asking[None]:
    """A spread-out start unless enough is known, then what the model proposes for ever.

    With a `source` of static features what they predict is compared with the trials, and followed if it agrees.
    """
    if memory.space.size <= TINY:
        yield from memory.ask(memory.draw_many(memory.space.size))
        return
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.search.acquisition_policy import AcquisitionPolicy

    guide = AcquisitionPolicy(memory, explore=options.explore, roundness=options.roundness)
    trust = None if source is None or len(memory) else _trust(memory, options, source, listener)
    yield from memory.ask(guide.spread_out(max(0, options.start - len(memory))))
    while True:
        if trust is not None and trust.is_earned() and (ranking := trust.ranking(SAMPLE)) is not None:
            first = ranking.best(PREDICTED_FIRST)
            yield from memory.ask(first)
            if not trust.misleads(first):
                guide = AcquisitionPolicy(
                    memory, (ranking.as_series(),), explore=options.explore, roundness=options.roundness
                )
        yield from memory.ask(guide.propose(memory.batch_size))
        if trust is not None and guide.past and not guide.follows_the_past:
            trust.drop()


def _trust(
    memory: Memory, options: AutoOptions, source: FeatureSource, listener: TrustListener
) -> EarnedTrust:
    # The numerical libraries take time to load.
    from orio_py.model.speed.catalog import load_speed_model
    from orio_py.search.trust import EarnedTrust

    model = None if options.model is None else load_speed_model(Path(options.model))
    return EarnedTrust(memory, source, model, listener)


def _apart(context: SearchContext) -> SearchContext:
    """The same context with random numbers of its own, so that a search with the first one draws what it would."""
    copied = random.Random()
    copied.setstate(context.rng.getstate())
    return replace(context, rng=random.Random(copied.getrandbits(64)))


def _with_suggestions(own: Search, memory: Memory, past: Sequence[PastSeries]) -> Asking[None]:
    """A search that hears of its own trials only, and between them what the past suggests after all trials.

    The search tries what it would without a past, in the same order, but for what was suggested before.  So
    wherever the past leads, nothing takes more than 1 + 1/`OWN_PER_SUGGESTION` times as many trials.
    The fastest of the past comes first, later what a model expects most of, until that dismisses the past.
    """
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.search.acquisition_policy import LEAST_VALID, AcquisitionPolicy

    guide = AcquisitionPolicy(memory, past, explore=0)
    batch = next(own, None)
    tried = suggested = 0
    while batch is not None:
        points = [memory.encoding.point(configuration) for configuration in batch]
        yield from memory.ask(points)
        results = [memory.outcomes[point] for point in points]
        tried += len(batch)
        due = tried // OWN_PER_SUGGESTION - suggested
        if due > 0 and guide.follows_the_past:
            if not suggested or sum(cost < inf for cost in memory.known.values()) < LEAST_VALID:
                fastest = (point for point in guide.past.fastest() if point not in memory.known)
                points = list(islice(fastest, due))
            else:
                points = guide.propose(due)
            suggested += due
            yield from memory.ask(points)
        batch = own.send(results)
