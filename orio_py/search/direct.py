"""DIRECT: divides the unit cube into rectangles, those first that may hold the optimum for some slope.

D. R. Jones, C. D. Perttunen and B. E. Stuckman, "Lipschitzian Optimization Without the Lipschitz
Constant", Journal of Optimization Theory and Applications 79(1), 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log, sqrt

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import best_of_random, descend
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, setting

MOST_KNOWN = 100
"""Divisions in a row without a new configuration after which the rectangles are given up: where few
combinations are valid, many rectangles have the same nearest one.
"""


@dataclass(frozen=True, slots=True)
class DirectOptions:
    """`epsilon` is the relative gain that a rectangle must promise to be divided; `local_distance` the
    steps around each new best configuration that are searched, 0 for none.
    """

    epsilon: float = setting(1e-4, RealOption(0, 1))
    local_distance: int = setting(1, IntegerOption(0, 8))


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """A centre, how often each side was divided by three, and the cost at the centre."""

    centre: tuple[float, ...]
    divisions: tuple[int, ...]
    cost: float

    @property
    def size(self) -> float:
        """Half its diagonal."""
        return sqrt(sum(9.0**-divided for divided in self.divisions)) / 2


def direct(context: SearchContext, options: DirectOptions) -> Search:
    """The rectangles; then, when none can be divided, descents from random configurations."""
    return restarted(context, partial(divide, options=options))


def divide(memory: Memory, options: DirectOptions) -> Asking[None]:
    """Divide until every rectangle holds one value of each parameter.  Later episodes are descents."""
    if memory.known:
        start = yield from best_of_random(memory, 10)
        yield from descend(memory, start)
        return
    axes = memory.encoding.axes
    # A side is divided while it is longer than one value's share of it.
    limits = tuple(_divisions(axis.size) for axis in axes)
    centre = (0.5,) * len(axes)
    cost = yield from memory.ask_one(memory.near.nearest(centre))
    rectangles = [_Rectangle(centre, (0,) * len(axes), cost)]
    idle = 0
    while idle < MOST_KNOWN:
        chosen = _promising([r for r in rectangles if _sides(r, limits)], options.epsilon)
        if not chosen:
            return
        for rectangle in chosen:
            rectangles.remove(rectangle)
            best, before = memory.best, len(memory)
            parts = yield from _divided(memory, rectangle, limits)
            rectangles.extend(parts)
            idle = idle + 1 if len(memory) == before else 0
            if options.local_distance and memory.best is not None and memory.best != best:
                yield from descend(memory, memory.best, distance=options.local_distance)


def _divisions(size: int) -> int:
    divided = 0
    while 3**divided < size:
        divided += 1
    return divided


def _sides(rectangle: _Rectangle, limits: Sequence[int]) -> list[int]:
    """The longest sides that may be divided."""
    open_sides = [i for i, divided in enumerate(rectangle.divisions) if divided < limits[i]]
    least = min((rectangle.divisions[i] for i in open_sides), default=0)
    return [i for i in open_sides if rectangle.divisions[i] == least]


def _divided(memory: Memory, rectangle: _Rectangle, limits: Sequence[int]) -> Asking[list[_Rectangle]]:
    """Thirds along the longest sides, the side with the best new centre first, so that it is largest."""
    sides = _sides(rectangle, limits)
    memory.rng.shuffle(sides)
    offset = 3.0 ** -(rectangle.divisions[sides[0]] + 1)
    pairs = {
        side: tuple(_shifted(rectangle.centre, side, step) for step in (-offset, offset)) for side in sides
    }
    points = [memory.near.nearest(place) for pair in pairs.values() for place in pair]
    costs = yield from memory.ask(points)
    found = dict(zip(pairs, zip(costs[::2], costs[1::2], strict=True), strict=True))
    divisions, parts = rectangle.divisions, list[_Rectangle]()
    for side in sorted(sides, key=lambda side: min(found[side])):
        divisions = (*divisions[:side], divisions[side] + 1, *divisions[side + 1 :])
        parts += [
            _Rectangle(place, divisions, cost) for place, cost in zip(pairs[side], found[side], strict=True)
        ]
    return [*parts, _Rectangle(rectangle.centre, divisions, rectangle.cost)]


def _shifted(centre: tuple[float, ...], side: int, step: float) -> tuple[float, ...]:
    return (*centre[:side], centre[side] + step, *centre[side + 1 :])


def _promising(rectangles: Sequence[_Rectangle], epsilon: float) -> list[_Rectangle]:
    """Those on the lower right hull of cost over size: potentially optimal for some Lipschitz constant.

    Costs are taken on a logarithmic scale, and failures as worse than the worst success.
    """
    finite = [log(r.cost) for r in rectangles if 0 < r.cost < inf]
    worst = (max(finite) + 1.0) if finite else 0.0
    best_of_size: dict[float, tuple[float, _Rectangle]] = {}
    for rectangle in rectangles:
        value = log(rectangle.cost) if 0 < rectangle.cost < inf else worst
        size = round(rectangle.size, 12)
        if size not in best_of_size or value < best_of_size[size][0]:
            best_of_size[size] = (value, rectangle)
    hull: list[tuple[float, float, _Rectangle]] = []
    for size, (value, rectangle) in sorted(best_of_size.items(), key=lambda item: item[0]):
        while hull and hull[-1][1] >= value:
            hull.pop()
        while len(hull) >= 2 and _is_above(hull[-2], hull[-1], (size, value)):
            hull.pop()
        hull.append((size, value, rectangle))
    goal = min(finite, default=0.0) - epsilon
    return [
        rectangle
        for i, (size, value, rectangle) in enumerate(hull)
        if i + 1 == len(hull) or value - size * (hull[i + 1][1] - value) / (hull[i + 1][0] - size) <= goal
    ]


def _is_above(
    left: tuple[float, float, _Rectangle], middle: tuple[float, float, _Rectangle], right: tuple[float, float]
) -> bool:
    """Whether the middle lies on or above the line from left to right."""
    slope = (right[1] - left[1]) / (right[0] - left[0])
    return middle[1] >= left[1] + slope * (middle[0] - left[0])
