"""The moves of Nelder and Mead's simplex in the unit cube, each corner valued at the nearest configuration.

J. A. Nelder and R. Mead, "A Simplex Method for Function Minimization", The Computer Journal 7, 1965.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from orio_py.search.memory import Asking, Memory
from orio_py.search_space.encoding import Point

Coordinates: TypeAlias = "tuple[float, ...]"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """How far each move goes; several numbers of a move are tried side by side."""

    reflection: tuple[float, ...]
    expansion: tuple[float, ...]
    contraction: tuple[float, ...]
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Corner:
    """A corner of the simplex, the configuration that stands for it, and its cost."""

    coordinates: Coordinates
    point: Point
    cost: float


def corners(memory: Memory, places: Sequence[Coordinates], *, snap: bool) -> Asking[list[Corner]]:
    """Corners at these coordinates; with `snap` they move to the configurations that stand for them."""
    clipped = [tuple(min(max(x, 0.0), 1.0) for x in place) for place in places]
    points = [memory.near.nearest(place) for place in clipped]
    costs = yield from memory.ask(points)
    if snap:
        clipped = [memory.encoding.coordinates(point) for point in points]
    return [Corner(*corner) for corner in zip(clipped, points, costs, strict=True)]


def converge(
    memory: Memory, simplex: Sequence[Corner], moves: Coefficients, *, snap: bool = False
) -> Asking[Point]:
    """Move the simplex until its corners are one configuration or it proposes nothing new; the best.

    With `snap` every corner stays on a configuration.
    """
    current = sorted(simplex, key=lambda corner: corner.cost)
    idle = 0
    while idle < 2 * len(current) and len({corner.point for corner in current}) > 1:
        before = len(memory)
        current = yield from _move(memory, current, moves, snap)
        current.sort(key=lambda corner: corner.cost)
        idle = idle + 1 if len(memory) == before else 0
    return current[0].point


def _move(memory: Memory, simplex: list[Corner], moves: Coefficients, snap: bool) -> Asking[list[Corner]]:
    """The simplex after one move; its corners are sorted, the best first."""
    best, worst = simplex[0], simplex[-1]
    others = simplex[:-1]
    centre = tuple(sum(x) / len(others) for x in zip(*(c.coordinates for c in others), strict=True))

    def ahead(corner: Corner, factors: Sequence[float]) -> Asking[Corner]:
        places = [_between(centre, corner.coordinates, factor) for factor in factors]
        found = yield from corners(memory, places, snap=snap)
        return min(found, key=lambda corner: corner.cost)

    reflected = yield from ahead(worst, [-factor for factor in moves.reflection])
    if reflected.cost < best.cost:
        expanded = yield from ahead(reflected, moves.expansion)
        return [*others, min(reflected, expanded, key=lambda corner: corner.cost)]
    if reflected.cost < others[-1].cost:
        return [*others, reflected]
    outer = reflected if reflected.cost < worst.cost else worst
    contracted = yield from ahead(outer, moves.contraction)
    if contracted.cost < outer.cost:
        return [*others, contracted]
    places = [_between(best.coordinates, corner.coordinates, moves.shrinkage) for corner in simplex[1:]]
    shrunk = yield from corners(memory, places, snap=snap)
    return [best, *shrunk]


def _between(start: Sequence[float], end: Sequence[float], share: float) -> Coordinates:
    return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))
