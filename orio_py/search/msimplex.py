"""The modified simplex: a regular first simplex along the axes, whose corners stay on configurations.

As Orio's `MSimplex`, after J. A. Nelder and R. Mead, "A Simplex Method for Function Minimization", The
Computer Journal 7, 1965.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import best_of_random, descend
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.nelder_mead import Coefficients, Coordinates, converge, corners
from orio_py.search.options import Coordinate, IntegerOption, Numbers, RealOption, setting
from orio_py.search_space.encoding import Point


@dataclass(frozen=True, slots=True)
class MSimplexOptions:
    """As of `simplex`; `size` is the length of the first edges in values of a list, at most half of it;
    `search_distance` the steps around the result that are searched, 0 for none; `samples` the random
    trials of which the best is the first corner where `x0` is not given.
    """

    reflection_coef: tuple[float, ...] = setting((1.0,), Numbers(0.01, 10))
    expansion_coef: tuple[float, ...] = setting((2.0,), Numbers(0.01, 10))
    contraction_coef: tuple[float, ...] = setting((0.5,), Numbers(0.01, 1))
    shrinkage_coef: float = setting(0.5, RealOption(0.01, 0.99))
    size: int = setting(4, IntegerOption(1, 10**6))
    search_distance: int = setting(1, IntegerOption(0, 8))
    samples: int = setting(10, IntegerOption(1, 10**6))
    x0: tuple[int, ...] | None = setting(None, Coordinate())


def msimplex(context: SearchContext, options: MSimplexOptions) -> Search:
    """Regular simplices, the first at `x0`, the others at the best of random configurations."""
    return restarted(context, partial(regular_simplex, options=options))


def regular_simplex(memory: Memory, options: MSimplexOptions) -> Asking[None]:
    """One simplex, and the descent from where it ends."""
    if options.x0 is not None and not memory.known:
        start = memory.near.nearest(memory.encoding.coordinates(options.x0))
    else:
        start = yield from best_of_random(memory, options.samples)
    first = yield from corners(memory, _edges(memory, start, options.size), snap=True)
    moves = Coefficients(
        options.reflection_coef, options.expansion_coef, options.contraction_coef, options.shrinkage_coef
    )
    found = yield from converge(memory, first, moves, snap=True)
    if options.search_distance:
        yield from descend(memory, found, distance=options.search_distance)


def _edges(memory: Memory, start: Point, size: int) -> list[Coordinates]:
    """The start, and for each parameter the start with that parameter changed, to the farther side."""
    here = memory.encoding.coordinates(start)
    places = [here]
    for i, axis in enumerate(memory.encoding.axes):
        if axis.size > 1:
            edge = min(size / (axis.size - 1), 0.5) if axis.size > 2 else 1.0
            moved = here[i] + edge if here[i] + edge <= 1 else here[i] - edge
            places.append((*here[:i], moved, *here[i + 1 :]))
    return places
