"""What searchers share: they remember what was tried, never propose it twice, and begin again.

A searcher is written as an episode: a generator over `Memory` that asks for the costs of points as often
as it likes, known ones included, and ends when it has converged.  `restarted` runs episodes until every
configuration is known.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import TypeAlias, TypeVar

from orio_py.record.outcome import Outcome
from orio_py.search.base import Batch, ProfiledBatch, Results, Search, SearchContext
from orio_py.search_space.encoding import Encoding, Point
from orio_py.search_space.neighbours import Neighbours
from orio_py.search_space.sampling import shuffled_ranks
from orio_py.search_space.search_space import SearchSpace

T = TypeVar("T")

Asking: TypeAlias = "Generator[Batch, Results, T]"
"""A part of a search that comes to a result, to be run with `yield from`."""


class SpaceExhaustedError(Exception):
    """Every configuration of the space was tried."""


class Memory:
    """The points that were tried, with their costs: the objective, or infinity for a failure.

    `outcomes` holds all that was heard of them.  `best` is the first point of the least finite cost, None until
    there is one.  A `seed` is the first of the points that are drawn together next, known as it is.
    """

    def __init__(self, context: SearchContext) -> None:
        self.space: SearchSpace = context.space
        self.rng: random.Random = context.rng
        self.batch_size = max(context.batch_size, 1)
        self.budget = context.budget_trials
        self.encoding = Encoding(context.space)
        self.near = Neighbours(context.space, self.encoding)
        self.known: dict[Point, float] = {}
        self.outcomes: dict[Point, Outcome] = {}
        self.best: Point | None = None
        self.seed: Point | None = None
        self._fresh: Iterator[int] = iter(())

    def __len__(self) -> int:
        return len(self.known)

    @property
    def best_cost(self) -> float:
        """The least cost so far; infinite where nothing succeeded."""
        return inf if self.best is None else self.known[self.best]

    def ask(self, points: Iterable[Point]) -> Asking[list[float]]:
        """The cost of each point; those that are not known are proposed, in batches.

        Raises SpaceExhaustedError as soon as nothing is left to propose.
        """
        wanted = list(points)
        new = [point for point in dict.fromkeys(wanted) if point not in self.known]
        for start in range(0, len(new), self.batch_size):
            batch = new[start : start + self.batch_size]
            results = yield [self.encoding.configuration(point) for point in batch]
            for point, outcome in zip(batch, results, strict=True):
                self._learn(point, outcome)
        if len(self.known) >= self.space.size:
            raise SpaceExhaustedError
        return [self.known[point] for point in wanted]

    def ask_one(self, point: Point) -> Asking[float]:
        """The cost of a point.  Raises SpaceExhaustedError."""
        (cost,) = yield from self.ask([point])
        return cost

    def profile(self, point: Point) -> Asking[Mapping[str, float]]:
        """The counters of a point that was tried; it is profiled unless they are known.  Empty if they cannot be had."""
        if not self.outcomes[point].counters:
            (outcome,) = yield ProfiledBatch([self.encoding.configuration(point)])
            self.outcomes[point] = replace(self.outcomes[point], counters=outcome.counters)
        return self.outcomes[point].counters

    def draw(self) -> Point:
        """A random point that is not known.  Raises SpaceExhaustedError if there is none."""
        for _ in range(2):
            for rank in self._fresh:
                if (point := self.near.at(rank)) not in self.known:
                    return point
            # Those that were drawn and never proposed come again.
            self._fresh = shuffled_ranks(self.space.size, self.rng)
        raise SpaceExhaustedError

    def draw_many(self, count: int) -> list[Point]:
        """Up to `count` different random points that are not known, the seed before them; fewer if there are fewer."""
        seeds, self.seed = [] if self.seed is None else [self.seed], None
        left = min(count - len(seeds), self.space.size - len(self.known))
        found: dict[Point, None] = {}
        while len(found) < left:
            found[self.draw()] = None
        return [*seeds, *found]

    def _learn(self, point: Point, outcome: Outcome) -> None:
        objective = outcome.objective
        cost = inf if objective is None or objective != objective else objective
        self.known[point], self.outcomes[point] = cost, outcome
        if cost < self.best_cost:
            self.best = point


def restarted(context: SearchContext, episode: Callable[[Memory], Asking[None]]) -> Search:
    """Episodes one after the other, with one memory, until every configuration was tried.

    An episode that proposed nothing new is followed by a random configuration.
    """
    if context.space.size == 0:
        return
    memory = Memory(context)
    try:
        while True:
            before = len(memory)
            yield from episode(memory)
            if len(memory) == before:
                yield from memory.ask([memory.draw()])
    except SpaceExhaustedError:
        return
