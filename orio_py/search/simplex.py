"""Nelder and Mead's simplex over the unit cube, restarted from random corners.

J. A. Nelder and R. Mead, "A Simplex Method for Function Minimization", The Computer Journal 7, 1965.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import descend
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.nelder_mead import Coefficients, Corner, converge
from orio_py.search.options import Coordinate, IntegerOption, Numbers, RealOption, setting


@dataclass(frozen=True, slots=True)
class SimplexOptions:
    """The coefficients of the moves, several of a kind being tried side by side; `local_distance` steps
    around the result are searched, 0 for none; `x0` is the place in each parameter's list of the first
    corner.
    """

    reflection_coef: tuple[float, ...] = setting((1.0,), Numbers(0.01, 10))
    expansion_coef: tuple[float, ...] = setting((2.0,), Numbers(0.01, 10))
    contraction_coef: tuple[float, ...] = setting((0.5,), Numbers(0.01, 1))
    shrinkage_coef: float = setting(0.5, RealOption(0.01, 0.99))
    local_distance: int = setting(1, IntegerOption(0, 8))
    x0: tuple[int, ...] | None = setting(None, Coordinate())


def simplex(context: SearchContext, options: SimplexOptions) -> Search:
    """Simplices of random corners, each moved until it is one configuration."""
    return restarted(context, partial(random_simplex, options=options))


def random_simplex(memory: Memory, options: SimplexOptions) -> Asking[None]:
    """One simplex, and the descent from where it ends."""
    points = memory.draw_many(len(memory.encoding.axes) + 1)
    if options.x0 is not None and not memory.known:
        points = [memory.near.nearest(memory.encoding.coordinates(options.x0)), *points[1:]]
    costs = yield from memory.ask(points)
    first = [
        Corner(memory.encoding.coordinates(point), point, cost)
        for point, cost in zip(points, costs, strict=True)
    ]
    moves = Coefficients(
        options.reflection_coef, options.expansion_coef, options.contraction_coef, options.shrinkage_coef
    )
    found = yield from converge(memory, first, moves)
    if options.local_distance:
        yield from descend(memory, found, distance=options.local_distance)
