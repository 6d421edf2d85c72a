"""Fireflies: each flies towards every brighter one, the more the nearer it is, with some noise.

X.-S. Yang, "Firefly Algorithms for Multimodal Optimization", SAGA 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import exp

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, setting


@dataclass(frozen=True, slots=True)
class FireflyOptions:
    """`population` fireflies; one is drawn by `attraction` times the way to a brighter one beside it, less
    with the square of the distance times `absorption`; `noise` is the random step per coordinate, which
    shrinks by `cooling` in each round; `restart` rounds without a new best end it.
    """

    population: int = setting(12, IntegerOption(2, 10**6))
    attraction: float = setting(0.8, RealOption(0, 2))
    absorption: float = setting(0.5, RealOption(0, 1e6))
    noise: float = setting(0.4, RealOption(0, 1))
    cooling: float = setting(0.9, RealOption(0.01, 1))
    restart: int = setting(8, IntegerOption(1, 10**6))


def firefly(context: SearchContext, options: FireflyOptions) -> Search:
    """Swarms of fireflies that fly until they stop finding anything."""
    return restarted(context, partial(glow, options=options))


def glow(memory: Memory, options: FireflyOptions) -> Asking[None]:
    """One swarm."""
    points = memory.draw_many(options.population)
    costs = yield from memory.ask(points)
    noise, idle = options.noise, 0
    while idle < options.restart:
        places = [memory.encoding.coordinates(point) for point in points]
        least = min(costs)
        proposed = [
            memory.near.nearest(_moved(memory, places, costs, i, noise, options)) for i in range(len(places))
        ]
        for i, point in enumerate(proposed):
            if point in memory.known:
                proposed[i] = memory.near.mutate(point, 1, memory.rng) or point
        found = yield from memory.ask(proposed)
        # Noise takes the dimmer ones anywhere, the brightest only where it is brighter still.
        brightest = min(range(len(costs)), key=costs.__getitem__)
        for i, (point, cost) in enumerate(zip(proposed, found, strict=True)):
            if i != brightest or cost < costs[i]:
                points[i], costs[i] = point, cost
        noise *= options.cooling
        idle = 0 if min(costs) < least else idle + 1


def _moved(
    memory: Memory,
    places: list[tuple[float, ...]],
    costs: list[float],
    which: int,
    noise: float,
    options: FireflyOptions,
) -> list[float]:
    rng = memory.rng
    here = list(places[which])
    for place, cost in zip(places, costs, strict=True):
        if cost < costs[which]:
            apart = sum((a - b) ** 2 for a, b in zip(here, place, strict=True))
            pull = options.attraction * exp(-options.absorption * apart)
            here = [a + pull * (b - a) for a, b in zip(here, place, strict=True)]
    return [min(max(x + noise * (rng.random() - 0.5), 0.0), 1.0) for x in here]
