"""A genetic algorithm: parents are chosen by tournament, children take each value from one of them.

J. H. Holland, "Adaptation in Natural and Artificial Systems", 1975.  Its random numbers may come from a
chaotic map, as in the chaos genetic algorithm that Orio once had.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, Word, setting
from orio_py.search_space.encoding import Point

_MAPS = ("none", "logistic", "tent")
"""Chaotic maps that random numbers may come from; `none` is the random generator itself."""

_NUDGE = 1e-9
"""Added now and then: in floating point both maps would end in a fixed point or a short cycle."""


@dataclass(frozen=True, slots=True)
class GeneticOptions:
    """`population` lives, of which `children` are replaced in each generation if they are worse;
    `tournament` candidates compete to be a parent; a child has probability `mutation` to have a value
    of its own; `restart` generations without a change of the population end it; `chaos` is the map.
    """

    population: int = setting(16, IntegerOption(2, 10**6))
    children: int = setting(6, IntegerOption(1, 10**6))
    tournament: int = setting(4, IntegerOption(1, 10**6))
    mutation: float = setting(0.5, RealOption(0, 1))
    restart: int = setting(6, IntegerOption(1, 10**6))
    chaos: str = setting("none", Word(_MAPS))


@dataclass(frozen=True, slots=True)
class ChaosGeneticOptions(GeneticOptions):
    """As of `genetic`, with the logistic map."""

    chaos: str = setting("logistic", Word(_MAPS))


def genetic(context: SearchContext, options: GeneticOptions) -> Search:
    """Populations that evolve until they stand still."""
    return restarted(context, partial(evolve, options=options))


def evolve(memory: Memory, options: GeneticOptions) -> Asking[None]:
    """One population."""
    rng = _generator(options.chaos, memory.rng)
    size = options.population
    if memory.budget is not None:
        size = min(size, max(4, memory.budget // 4))
    living = memory.draw_many(size) if rng is memory.rng else _spread(memory, size, rng)
    costs = yield from memory.ask(living)
    population = sorted(zip(costs, living, strict=True))
    idle = 0
    while idle < options.restart:
        children = [_child(memory, population, options, rng) for _ in range(options.children)]
        costs = yield from memory.ask(children)
        united = dict.fromkeys([*population, *zip(costs, children, strict=True)])
        following = sorted(united, key=lambda each: each[0])[:size]
        idle = idle + 1 if following == population else 0
        population = following


def _spread(memory: Memory, size: int, rng: random.Random) -> list[Point]:
    """The configurations nearest to points of the cube that follow the map."""
    points = [memory.near.nearest([rng.random() for _ in memory.encoding.axes]) for _ in range(size)]
    return list(dict.fromkeys(points))


def _child(
    memory: Memory, population: list[tuple[float, Point]], options: GeneticOptions, rng: random.Random
) -> Point:
    """A configuration that is not known, if a few attempts find one."""
    child = population[0][1]
    for _ in range(8):
        one, other = (_parent(population, options.tournament, rng) for _ in range(2))
        child = cross(memory, one, other, rng)
        if child in memory.known or rng.random() < options.mutation:
            child = memory.near.mutate(child, 1, rng) or child
        if child not in memory.known:
            break
    return child


def _parent(population: list[tuple[float, Point]], tournament: int, rng: random.Random) -> Point:
    """The best of some; the population is sorted."""
    return population[min(rng.randrange(len(population)) for _ in range(tournament))][1]


def cross(memory: Memory, one: Point, other: Point, rng: random.Random) -> Point:
    """The configuration nearest to a mixture of two, which takes each value from one or the other."""
    costs: list[list[float]] = []
    for axis, mine, yours in zip(memory.encoding.axes, one, other, strict=True):
        row = [3.0] * axis.size
        first, second = (mine, yours) if rng.random() < 0.5 else (yours, mine)
        row[second] = 1.0
        row[first] = 0.0
        costs.append(row)
    return memory.near.cheapest(costs) or one


class _ChaoticRandom(random.Random):
    """A generator whose numbers are the orbit of a map, made uniform; all other draws follow from them.

    The logistic map `x ← 4x(1 − x)` has the density `1 / (π √(x(1 − x)))`, which the arc sine undoes; the
    tent map `x ← 1 − |1 − 2x|` is uniform by itself.

    R. Caponetto, L. Fortuna, S. Fazzino and M. G. Xibilia, "Chaotic sequences to improve the performance of
    evolutionary algorithms", IEEE Transactions on Evolutionary Computation 7(3), 2003.
    """

    def __init__(self, name: str, source: random.Random) -> None:
        """`source` gives the start of the orbit and keeps it from ending."""
        super().__init__(0)
        self._name = name
        self._source = source
        self._x = source.uniform(0.1, 0.9)

    def random(self) -> float:
        """The next number of `[0, 1)`."""
        x = self._x
        x = 4 * x * (1 - x) if self._name == "logistic" else 1 - abs(1 - 2 * x)
        x += _NUDGE * self._source.random()
        self._x = x = x if 0 < x < 1 else self._source.uniform(0.1, 0.9)
        uniform = 2 / math.pi * math.asin(math.sqrt(x)) if self._name == "logistic" else x
        return min(uniform, 1 - 2**-53)

    def getrandbits(self, k: int, /) -> int:
        """`k` bits, from as many numbers as that takes."""
        bits = 0
        for _ in range(-(-k // 16)):
            bits = bits << 16 | int(self.random() * 65536)
        return bits >> -k % 16


def _generator(name: str, source: random.Random) -> random.Random:
    """The generator of a map's name."""
    return source if name == "none" else _ChaoticRandom(name, source)
