"""Candidates among which a model chooses: random configurations, and those around the best known."""

from __future__ import annotations

from heapq import nsmallest

from orio_py.search.memory import Memory
from orio_py.search_space.encoding import Point

ELITE = 5
"""How many of the best known configurations have their neighbours among the candidates."""


def candidates(memory: Memory, samples: int) -> list[Point]:
    """Different configurations that are not known, about `samples` random ones and the neighbours of the
    best; all there are if those are fewer.
    """
    space, near, rng = memory.space, memory.near, memory.rng
    if space.size <= samples:
        everything = (near.at(rank) for rank in range(space.size))
        return [point for point in everything if point not in memory.known]
    found: dict[Point, None] = {}
    for _ in range(samples):
        found[near.random(rng)] = None
    for elite in nsmallest(ELITE, memory.known, key=memory.known.__getitem__):
        found.update(dict.fromkeys(near.hamming(elite)))
        for _ in range(20):
            if (point := near.mutate(elite, 2, rng)) is not None:
                found[point] = None
    return [point for point in found if point not in memory.known]
