"""Steps that local searches share: descent to a local minimum, and whether a worse point is accepted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, inf

from orio_py.search.memory import Asking, Memory
from orio_py.search_space.encoding import Point

NEIGHBOURHOODS = ("adjacent", "hamming")
"""The next values of each parameter, or all values of each."""


def around(memory: Memory, here: Point, neighbourhood: str, distance: int = 1) -> list[Point]:
    """The points that up to `distance` steps of a neighbourhood lead to, in random order, nearest first."""
    found: dict[Point, None] = {here: None}
    shell = [here]
    for _ in range(distance):
        nearby = memory.near.hamming if neighbourhood == "hamming" else memory.near.adjacent
        shell = list(dict.fromkeys(p for inner in shell for p in nearby(inner) if p not in found))
        memory.rng.shuffle(shell)
        found.update(dict.fromkeys(shell))
    return list(found)[1:]


def descend(
    memory: Memory,
    here: Point,
    neighbourhood: str = "adjacent",
    distance: int = 1,
    patience: int | None = None,
) -> Asking[Point]:
    """Go to the first better neighbour, again and again, and come to rest where there is none.

    Neighbours come in random order; after `patience` new ones without an improvement the rest is left
    out, None looks at all.
    """
    cost = yield from memory.ask_one(here)
    better: Point | None = here
    while better is not None:
        here, better = better, None
        looked = 0
        for point in around(memory, here, neighbourhood, distance):
            if patience is not None and looked >= patience:
                break
            looked += point not in memory.known
            found = yield from memory.ask_one(point)
            if found < cost:
                better, cost = point, found
                break
    return here


def best_of_random(memory: Memory, samples: int) -> Asking[Point]:
    """The best of some random points that were not known.  Raises SpaceExhaustedError."""
    points = memory.draw_many(samples) or [memory.draw()]
    costs = yield from memory.ask(points)
    return best_of(points, costs)


def best_of(points: Sequence[Point], costs: Sequence[float]) -> Point:
    """The first point of the least cost."""
    return points[min(range(len(points)), key=costs.__getitem__)]


def is_accepted(cost: float, found: float, temperature: float, rng: random.Random) -> bool:
    """Metropolis' rule on the relative change: better always, worse with probability `exp(-change / T)`.

    A failure is never accepted in place of a success, anything in place of a failure.
    """
    if cost == inf or found < cost:
        return True
    if found == inf or temperature <= 0:
        return False
    change = (found - cost) / cost if cost > 0 else 1.0
    return rng.random() < exp(-change / temperature)
