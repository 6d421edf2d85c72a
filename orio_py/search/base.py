"""The interface of searchers: generators that yield configurations and receive their outcomes.

A searcher is written as straight-line code, yet is asked and told from outside: whoever drives it owns
the budget, the cache and the failures, and may stop asking at any time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from orio_py.core.expr import Value
from orio_py.record.outcome import Outcome
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace

Batch: TypeAlias = "Sequence[Configuration]"
"""Configurations that may be built at the same time; never empty."""


class ProfiledBatch(tuple[Configuration, ...]):
    """A batch of configurations that were tried and whose counters are wanted, too: each runs once more for them.

    Who drives a search charges these runs like others.  Who cannot profile answers with outcomes without counters.
    """

    __slots__ = ()


Results: TypeAlias = "Sequence[Outcome]"
"""The outcome of each configuration of a batch, in its order."""

Search: TypeAlias = "Generator[Batch, Results, None]"
"""A running searcher; it ends when it has nothing more to propose."""

PastSeries: TypeAlias = "Sequence[tuple[Configuration, float | None]]"
"""Trials of a task under circumstances of their own, with their objectives or None for failures."""

CountedSeries: TypeAlias = "Sequence[tuple[Configuration, Mapping[str, float]]]"
"""Trials of a task under other circumstances, with their counters."""

FeatureSource: TypeAlias = "Callable[[Sequence[Configuration]], Sequence[Mapping[str, float] | None]]"
"""Gives the static features of configurations without building them; None for one that a transformation refuses."""


TrustListener: TypeAlias = "Callable[[PredictionTrust], None]"
"""Hears how a prediction does."""


def unheard(trust: PredictionTrust) -> None:
    """Nobody listens."""


LEAST_OF_A_SERIES = 8
"""A series of the past with fewer valid trials says too little to be listened to."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a searcher works on.

    `budget_trials` is how many trials are planned, None if that is open; `batch_size` is the largest
    number of configurations to propose at once.  `objectives` is how many values the outcome of a success has.
    `past` are trials of the same task under other circumstances (device, sizes, compiler), a series for each:
    objectives of different series do not compare.  A searcher that uses them only takes them as a hint.
    `counted` are the counters of those trials, or of some of them, as a model of counters learns from.
    `features` is there where static features can be had; `trusted` hears how a prediction by them does.
    """

    space: SearchSpace
    rng: random.Random
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    budget_trials: int | None = None
    batch_size: int = 8
    objectives: int = 1
    past: Sequence[PastSeries] = ()
    counted: CountedSeries = ()
    features: FeatureSource | None = None
    trusted: TrustListener = unheard


def batches(configurations: Iterator[Configuration], size: int) -> Search:
    """Propose configurations in the order given, whatever they achieve."""
    batch: list[Configuration] = []
    for configuration in configurations:
        batch.append(configuration)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def drive(
    search: Search,
    evaluate: Callable[[Configuration], Outcome | float | None],
    trials: int | None = None,
    profile: Callable[[Configuration], Outcome] | None = None,
) -> list[tuple[Configuration, float | None]]:
    """Run a searcher on a function until it ends or `trials` configurations were tried; the trials.

    The function gives outcomes, or objectives alone, None for a failure.  `profile` answers profiled batches, whose
    configurations count as trials once more.
    """
    tried: list[tuple[Configuration, float | None]] = []
    if trials is not None and trials <= 0:
        return tried
    batch = next(search, None)
    while batch is not None:
        answer = profile if profile is not None and isinstance(batch, ProfiledBatch) else evaluate
        found = [answer(configuration) for configuration in batch]
        results = [
            result if isinstance(result, Outcome) else Outcome.of(configuration, result)
            for configuration, result in zip(batch, found, strict=True)
        ]
        tried.extend((outcome.configuration, outcome.objective) for outcome in results)
        if trials is not None and len(tried) >= trials:
            search.close()
            return tried[:trials]
        try:
            batch = search.send(results)
        except StopIteration:
            batch = None
    return tried
