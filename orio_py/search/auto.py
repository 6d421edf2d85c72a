"""The default: a few configurations far from each other, then those that a model expects most of.

An advice may know beforehand what is to be expected: a model of speed by static features, or one of counters.  What it
says of the first trials is compared with what was measured (`orio_py.search.trust`), and if that agrees it is followed.
Trials of the same task under other circumstances suggest others between them, which change nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from orio_py.search.base import CountedSeries, FeatureSource, PastSeries, Search, SearchContext, TrustListener
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import FileName, IntegerOption, RealOption, setting

if TYPE_CHECKING:
    from orio_py.search.acquisition_policy import AcquisitionPolicy

LEAST_COUNTED = 20
"""Of fewer trials with counters no model is made: it would know less than the search's own trials soon tell."""

TINY = 32
"""Up to this size a space is tried in random order: a model would not be asked often enough to pay."""

OWN_PER_SUGGESTION = 5
"""After so many trials of its own a search tries one that the past suggests: a past costs a fifth more at most."""


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


class Advice(Protocol):
    """What predicts speeds, asked beside a search, which follows it once its trials agree with it."""

    def is_earned(self) -> bool:
        """Whether the trials so far, for the first time, agree with what is predicted."""
        ...

    def follow(self, guide: AcquisitionPolicy) -> Asking[AcquisitionPolicy]:
        """Try what promises most; what chooses from then on."""
        ...

    def look_at(self, guide: AcquisitionPolicy) -> None:
        """Hear of what has just been tried, as `guide` chose it."""
        ...


Advised: TypeAlias = "Callable[[Memory], Advice | None]"
"""Makes an advice for a search that has tried nothing yet; None where nothing can be told."""


def auto(context: SearchContext, options: AutoOptions, advised: Advised | None = None) -> Search:
    """A spread-out start, then what the model proposes until every configuration was tried.

    With a past, what that suggests comes between; without one, what static features predict comes first.  Another advice, or a
    model of the counters that a past has, is asked in either case.  Raises DiagnosticError as `orio_py.model.speed.catalog.load_speed_model`.
    """
    context = replace(context, batch_size=min(context.batch_size, options.batch))
    if advised is None and len(context.counted) >= LEAST_COUNTED:
        advised = partial(_by_counters, context.counted, context.trusted)
    elif advised is None and context.features is not None and options.predict and not context.past:
        advised = partial(_by_features, context.features, context.trusted, options)
    search = restarted(context, lambda memory: guided(memory, options, advised))
    if not context.past or context.space.size <= TINY:
        return search
    return restarted(_apart(context), lambda memory: _with_suggestions(search, memory, context.past))


def guided(memory: Memory, options: AutoOptions, advised: Advised | None = None) -> Asking[None]:
    """A spread-out start unless enough is known, then what the model proposes for ever.

    With an advice what it predicts is compared with the trials, and followed if it agrees.
    """
    if memory.space.size <= TINY:
        yield from memory.ask(memory.draw_many(memory.space.size))
        return
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.search.acquisition_policy import AcquisitionPolicy

    guide = AcquisitionPolicy(memory, explore=options.explore, roundness=options.roundness)
    advice = None if advised is None or len(memory) else advised(memory)
    start = guide.spread_out(max(0, options.start - len(memory)))
    while True:
        if advice is not None and advice.is_earned():
            tried = len(memory)
            guide = yield from advice.follow(guide)
            start = start if len(memory) == tried else []
        batch = start[: memory.batch_size] or guide.propose(memory.batch_size)
        start = start[memory.batch_size :]
        yield from memory.ask(batch)
        if advice is not None:
            advice.look_at(guide)


def _by_counters(counted: CountedSeries, listener: TrustListener, memory: Memory) -> Advice | None:
    # The numerical libraries take time to load.
    from orio_py.model.counters.busy_time import typical_costs
    from orio_py.model.counters.model import TrainedOn, training_set_of

    training = training_set_of(counted, TrainedOn(rows=len(counted)))
    if typical_costs(training.domain.counters) is None:
        return None
    # The library that grows trees takes more time to load than all others.
    from orio_py.model.counters.trees import grow_ensemble
    from orio_py.search.counter_policy import CounterAdvice

    return CounterAdvice(memory, grow_ensemble(training), listener)


def _by_features(
    source: FeatureSource, listener: TrustListener, options: AutoOptions, memory: Memory
) -> Advice:
    # The numerical libraries take time to load.
    from orio_py.model.speed.catalog import load_speed_model
    from orio_py.search.ranking import RankedAdvice

    model = None if options.model is None else load_speed_model(Path(options.model))
    return RankedAdvice(memory, source, model, listener, explore=options.explore, roundness=options.roundness)


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
