"""What trials of the same task on another device, with other sizes or another compiler, say of this one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import exp, isfinite, log
from statistics import fmean

import numpy as np
import numpy.typing as npt

from orio_py.model.base import Prediction
from orio_py.model.features import FeatureTable
from orio_py.model.posterior import PoolProcess
from orio_py.model.winsorising import selection, standardised, winsorised
from orio_py.search.base import LEAST_OF_A_SERIES, PastSeries
from orio_py.search_space.encoding import Point
from orio_py.search_space.neighbours import Neighbours

Array = npt.NDArray[np.float64]

ROWS_FOR_SCALES = 100
ROWS = 300
TRUST, DOUBT = 0.5, 0.4
"""How much of the past is expected to hold, and the spread of that; the trials so far correct it."""
BELIEF = 0.0
"""The logarithm of the odds, before the first trial, that the past helps at all."""
FADING, MOST_PER_TRIAL, MOST_EVIDENCE = 0.92, 1.5, 4.0
"""How evidence fades with each trial; the most that one trial, and all of them, can say (logarithm of odds)."""
BURDEN = 0.15
"""What each trial takes from the evidence: a past that does not go on to predict better is no longer listened to."""
DISMISSED = -log(4.0)
"""With less evidence than this a past is dismissed for good."""
LASTS = 30
"""After so many predictions a past is no longer listened to: what it is good for it has done by then."""
NOISE = 0.1
"""Added to the spread of what is predicted, for the noise of measurements."""


class WarmStart:
    """A model of earlier trials: what it expects of a configuration, faster ones lower, at mean 0 and spread 1.

    Trials that failed, or whose configurations are not in the space, are left out, and so are series with fewer
    than `LEAST_OF_A_SERIES` others.  Objectives are levelled within each series.
    """

    def __init__(
        self,
        series: Sequence[PastSeries],
        near: Neighbours,
        table: FeatureTable,
    ) -> None:
        # A generator of its own: with and without a past, the searcher draws the same.
        rng = random.Random(0)
        self._table = table
        self._expected: dict[Point, float] = {}
        self._process = PoolProcess(table.groups)
        known = _levels_of(series, near)
        self._ordered = ordered = sorted(known, key=known.__getitem__)
        if not self:
            return
        levels = standardised([known[point] for point in ordered])
        places = selection(len(ordered), ROWS_FOR_SCALES, rng)
        points = table.rows(ordered)
        self._process.learn_scales(points[places], standardised(levels[places]), rng)
        places = selection(len(ordered), ROWS, rng)
        self._process.condition(points[places], np.zeros((0, table.width)))
        self._process.fix(levels[places])

    def __bool__(self) -> bool:
        """Whether there are enough trials to learn from."""
        return len(self._ordered) >= LEAST_OF_A_SERIES

    def expected(self, points: Sequence[Point]) -> Array:
        """What is to be expected of points; 0 of all where there is no past."""
        if not self or not points:
            return np.zeros(len(points))
        if new := [point for point in points if point not in self._expected]:
            self._expected.update(
                zip(new, self._process.mean_at(self._table.rows(new)).tolist(), strict=True)
            )
        return np.array([self._expected[point] for point in points])

    def fastest(self) -> list[Point]:
        """The points of the past, the fastest first."""
        return self._ordered if self else []


class TransferWeight:
    """Mixes what a model expects with a past and without it, by how well either has predicted so far.

    The weight is that of Bayesian model averaging (J. A. Hoeting and others, "Bayesian Model Averaging: A Tutorial",
    Statistical Science 14, 1999), each model scored by its predictions before the results came; older ones fade, so
    that a past that holds at large and not for the fastest loses its weight when it matters.
    """

    def __init__(self) -> None:
        self.share = TRUST
        self._evidence = BELIEF
        self.is_dismissed = False
        self._learned = 0
        self._bets: dict[Point, tuple[float, float, float, float]] = {}
        self._with = self._without = Prediction(np.zeros(0), np.zeros(0))

    @property
    def weight(self) -> float:
        """How likely it is that the past helps to predict; 0 once it is dismissed."""
        if self.is_dismissed:
            return 0.0
        return 1.0 / (1.0 + exp(-self._evidence))

    @property
    def trust(self) -> float:
        """How much of what the past expects is expected, all in all."""
        return self.weight * self.share

    def predict(
        self, process: PoolProcess, targets: Array, expected_rows: Array, expected: Array
    ) -> Prediction:
        """Mean and spread of each candidate; `expected` of observations and candidates by the past."""
        if self.is_dismissed:
            return process.predict(targets)
        share = process.share_of(expected_rows, targets, TRUST, DOUBT)
        self.share = min(max(share, 0.0), 1.0)
        rest = process.predict(targets - self.share * expected_rows)
        self._with = first = Prediction(rest.mean + self.share * expected, rest.spread)
        self._without = second = process.predict(targets)
        weight = self.weight
        mean = weight * first.mean + (1.0 - weight) * second.mean
        apart = weight * (1.0 - weight) * np.square(first.mean - second.mean)
        variance = weight * np.square(first.spread) + (1.0 - weight) * np.square(second.spread)
        return Prediction(mean, np.sqrt(variance + apart))

    def bet(self, point: Point, place: int) -> None:
        """Keep what both models say of the candidate that is tried next."""
        if self.is_dismissed:
            return
        found = [float(values[place]) for p in (self._with, self._without) for values in (p.mean, p.spread)]
        self._bets[point] = (found[0], found[1], found[2], found[3])

    def learn(self, levels: Mapping[Point, float], points: Sequence[Point]) -> None:
        """Score the predictions of points whose levels are known now."""
        for point in points:
            if (bet := self._bets.pop(point, None)) is not None:
                gain = _log_density(levels[point], *bet[:2]) - _log_density(levels[point], *bet[2:])
                gain = min(max(gain, -MOST_PER_TRIAL), MOST_PER_TRIAL)
                self._evidence = min(FADING * self._evidence + gain - BURDEN, MOST_EVIDENCE)
                self._learned += 1
                is_over = self._learned >= LASTS or self._evidence < DISMISSED
                self.is_dismissed = self.is_dismissed or is_over


def _log_density(level: float, mean: float, spread: float) -> float:
    """Of a normal distribution, apart from a constant, with a little noise."""
    variance = spread**2 + NOISE**2
    return -0.5 * ((level - mean) ** 2 / variance + log(variance))


def _levels_of(series: Sequence[PastSeries], near: Neighbours) -> dict[Point, float]:
    """The levels of the valid trials that are points of the space, within each series; the mean of several."""
    found: dict[Point, list[float]] = {}
    for trials in series:
        costs: dict[Point, float] = {}
        for configuration, cost in trials:
            try:
                point = near.encoding.point(configuration)
            except KeyError:
                continue
            if cost is not None and isfinite(cost) and point in near:
                costs[point] = cost
        if len(costs) >= LEAST_OF_A_SERIES:
            for point, level in zip(costs, winsorised(list(costs.values())).tolist(), strict=True):
                found.setdefault(point, []).append(level)
    return {point: fmean(levels) for point, levels in found.items()}
