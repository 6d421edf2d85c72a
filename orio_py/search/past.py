"""What trials of the same task on another device, with other sizes or another compiler, say of this one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import inf, isfinite

import numpy as np
import numpy.typing as npt

from orio_py.core.expr import Value
from orio_py.model.arithmetic import FeatureTable
from orio_py.model.levels import levelled, selection, standardised
from orio_py.model.posterior import PoolProcess
from orio_py.space.encoding import Point
from orio_py.space.neighbours import Neighbours

Array = npt.NDArray[np.float64]

LEAST = 8
"""Fewer trials say too little to be listened to."""
ROWS_FOR_SCALES = 150
ROWS = 400
TOP_SHARE, LEAST_TOP = 0.05, 8
"""The first configurations come from this share of the trials, the fastest, and from at least so many."""


class Past:
    """A model of earlier trials: what it expects of a configuration, faster ones lower, at mean 0 and spread 1.

    Trials that failed, or whose configurations are not in the space, are left out.
    """

    def __init__(
        self,
        trials: Sequence[tuple[Mapping[str, Value], float | None]],
        near: Neighbours,
        table: FeatureTable,
        rng: random.Random,
    ) -> None:
        self._table = table
        self._process = PoolProcess(table.groups)
        self._costs = _costs_of(trials, near)
        ordered = sorted(self._costs, key=self._costs.__getitem__)
        self._ordered = ordered
        if not self:
            return
        levels = levelled([self._costs[point] for point in ordered])
        places = selection(len(ordered), ROWS_FOR_SCALES, rng)
        points = table.rows(ordered)
        self._process.learn_scales(points[places], standardised(levels[places]), rng)
        places = selection(len(ordered), ROWS, rng)
        self._process.condition(points[places], np.zeros((0, table.width)))
        self._process.fix(levels[places])

    def __bool__(self) -> bool:
        """Whether there are enough trials to learn from."""
        return len(self._ordered) >= LEAST

    def expected(self, points: Sequence[Point]) -> Array:
        """What is to be expected of points; 0 of all where there is no past."""
        if not self or not points:
            return np.zeros(len(points))
        return self._process.mean_at(self._table.rows(points))

    def best(self, count: int) -> list[Point]:
        """Up to `count` of the fastest points: the fastest of all, and others that are far from those before."""
        if not self:
            return []
        top = self._ordered[: max(LEAST_TOP, int(TOP_SHARE * len(self._ordered)))]
        rows = self._table.rows(top)
        chosen = [0]
        apart = np.full(len(top), inf)
        while len(chosen) < min(count, len(top)):
            apart = np.minimum(apart, np.square(rows - rows[chosen[-1]]).sum(axis=1))
            chosen.append(int(apart.argmax()))
        return [top[place] for place in chosen[:count]]


def _costs_of(
    trials: Sequence[tuple[Mapping[str, Value], float | None]], near: Neighbours
) -> dict[Point, float]:
    """The costs of the valid trials that are points of the space; of one point the last counts."""
    found: dict[Point, float] = {}
    for configuration, cost in trials:
        try:
            point = near.encoding.point(configuration)
        except KeyError:
            continue
        if cost is not None and isfinite(cost) and point in near:
            found[point] = cost
    return found
