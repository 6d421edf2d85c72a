"""The interface of searchers: generators that yield configurations and receive what they achieved.

A searcher is written as straight-line code, yet is asked and told from outside: whoever drives it owns
the budget, the cache and the failures, and may stop asking at any time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from orio_py.core.expr import Value
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace

Batch: TypeAlias = "Sequence[Configuration]"
"""Configurations that may be built at the same time; never empty."""

Results: TypeAlias = "Sequence[float | None]"
"""The objective in seconds of each configuration of a batch, None for a failure."""

Search: TypeAlias = "Generator[Batch, Results, None]"
"""A running searcher; it ends when it has nothing more to propose."""

PastSeries: TypeAlias = "Sequence[tuple[Configuration, float | None]]"
"""Trials of a task under circumstances of their own, with their objectives or None for failures."""

LEAST_OF_A_SERIES = 8
"""A series of the past with fewer valid trials says too little to be listened to."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a searcher works on.

    `budget_trials` is how many trials are planned, None if that is open; `batch_size` is the largest
    number of configurations to propose at once.  Of several `objectives` the first one is what a searcher hears;
    the values of all stand in `scores`, for each configuration that succeeded, before it does.
    `past` are trials of the same task under other circumstances (device, sizes, compiler), a series for each:
    objectives of different series do not compare.  A searcher that uses them only takes them as a hint.
    """

    space: SearchSpace
    rng: random.Random
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    budget_trials: int | None = None
    batch_size: int = 8
    objectives: int = 1
    scores: dict[Configuration, tuple[float, ...]] = field(
        default_factory=dict[Configuration, "tuple[float, ...]"]
    )
    past: Sequence[PastSeries] = ()


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
    search: Search, objective: Callable[[Configuration], float | None], trials: int | None = None
) -> list[tuple[Configuration, float | None]]:
    """Run a searcher on a function until it ends or `trials` configurations were tried; the trials."""
    tried: list[tuple[Configuration, float | None]] = []
    if trials is not None and trials <= 0:
        return tried
    batch = next(search, None)
    while batch is not None:
        results = [objective(configuration) for configuration in batch]
        tried.extend(zip(batch, results, strict=True))
        if trials is not None and len(tried) >= trials:
            search.close()
            return tried[:trials]
        try:
            batch = search.send(results)
        except StopIteration:
            batch = None
    return tried
