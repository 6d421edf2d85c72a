"""NSGA-II: a population that approaches the Pareto front of several objectives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, setting
from orio_py.search_space.encoding import Point

if TYPE_CHECKING:
    from orio_py.model.front_sampler import FrontSampler

STALE = 20
"""Rounds of proposals that are all known after which a random configuration is tried."""


@dataclass(frozen=True, slots=True)
class NsgaOptions:
    """`population` configurations form a generation."""

    population: int = setting(24, IntegerOption(2, 10**6))


def nsga(context: SearchContext, options: NsgaOptions) -> Search:
    """The front by all objectives of the context; with one objective a genetic algorithm.

    Raises EnvironmentProblem ORIO-P024 without Optuna.
    """
    return restarted(context, partial(approach, context=context, options=options))


def approach(memory: Memory, context: SearchContext, options: NsgaOptions) -> Asking[None]:
    """One population, until nothing is left to propose."""
    axes = memory.encoding.axes
    sampler = _sampler(memory, context, options)
    size = min(memory.batch_size, options.population)
    stale = 0
    while True:
        asked: list[tuple[int, Point]] = []
        for _ in range(size):
            number, ranks = sampler.ask()
            # Categories are proposed as places, numbers as ranks: as coordinates both fall into their cell.
            place = [
                axis.coordinate(axis.places[rank]) if axis.is_ordered else (rank + 0.5) / axis.size
                for axis, rank in zip(axes, ranks, strict=True)
            ]
            asked.append((number, memory.near.nearest(place)))
        before = len(memory)
        yield from memory.ask(point for _, point in asked)
        for number, point in asked:
            failed = memory.known[point] == inf
            sampler.tell(number, None if failed else memory.outcomes[point].objectives)
        stale = stale + 1 if len(memory) == before else 0
        if stale >= STALE:
            yield from memory.ask([memory.draw()])
            stale = 0


def _sampler(memory: Memory, context: SearchContext, options: NsgaOptions) -> FrontSampler:
    try:
        from orio_py.model.front_sampler import FrontSampler  # takes time to load, and may be missing
    except ImportError as problem:
        message = f"the searcher `nsga` needs the Python package `optuna`: {problem}"
        help_text = "`pip install 'orio-py[search]'`, or name another searcher"
        raise EnvironmentProblem(Diagnostic("ORIO-P024", message, help=help_text)) from None
    axes = [(axis.size, axis.is_ordered) for axis in memory.encoding.axes]
    seed = memory.rng.randrange(2**31)
    return FrontSampler(axes, context.objectives, population=options.population, seed=seed)
