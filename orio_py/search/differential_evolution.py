"""Differential evolution: the difference of two configurations, added to a third, moves a fourth.

R. Storn and K. Price, "Differential Evolution – A Simple and Efficient Heuristic for Global Optimization
over Continuous Spaces", Journal of Global Optimization 11, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, Word, setting

STRATEGIES = ("best", "rand", "current")
"""What the difference is added to: the best, a random member, or half-way from a member to the best."""


@dataclass(frozen=True, slots=True)
class DifferentialEvolutionOptions:
    """`population` members; differences are multiplied by a random number from half of `weight` to it;
    a coordinate comes from the moved one with probability `crossover`; `strategy` says what is moved;
    `restart` generations with nothing new end it.
    """

    population: int = setting(12, IntegerOption(4, 10**6))
    weight: float = setting(1.0, RealOption(0, 2))
    crossover: float = setting(0.5, RealOption(0, 1))
    strategy: str = setting("best", Word(STRATEGIES))
    restart: int = setting(3, IntegerOption(1, 10**6))


def differential_evolution(context: SearchContext, options: DifferentialEvolutionOptions) -> Search:
    """Populations that evolve until they propose nothing new."""
    return restarted(context, partial(evolve_by_differences, options=options))


def evolve_by_differences(memory: Memory, options: DifferentialEvolutionOptions) -> Asking[None]:
    """One population."""
    points = memory.draw_many(options.population)
    if len(points) < 4:
        yield from memory.ask(points)
        return
    costs = yield from memory.ask(points)
    places = [memory.encoding.coordinates(point) for point in points]
    idle = 0
    while idle < options.restart:
        before = len(memory)
        trials = [_trial(memory, places, costs, member, options) for member in range(len(places))]
        proposed = [memory.near.nearest(trial) for trial in trials]
        found = yield from memory.ask(proposed)
        for member, (point, cost) in enumerate(zip(proposed, found, strict=True)):
            if cost <= costs[member]:
                places[member], costs[member] = memory.encoding.coordinates(point), cost
        idle = idle + 1 if len(memory) == before else 0


def _trial(
    memory: Memory,
    places: list[tuple[float, ...]],
    costs: list[float],
    member: int,
    options: DifferentialEvolutionOptions,
) -> list[float]:
    rng = memory.rng
    own = places[member]
    one, two, three = rng.sample([place for i, place in enumerate(places) if i != member], 3)
    best = places[min(range(len(places)), key=costs.__getitem__)]
    base = {"best": best, "rand": three, "current": [(a + b) / 2 for a, b in zip(own, best, strict=True)]}
    weight = rng.uniform(options.weight / 2, options.weight)
    certain = rng.randrange(len(own)) if own else 0
    return [
        min(max(base[options.strategy][i] + weight * (one[i] - two[i]), 0.0), 1.0)
        if i == certain or rng.random() < options.crossover
        else own[i]
        for i in range(len(own))
    ]
