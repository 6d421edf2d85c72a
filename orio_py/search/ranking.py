"""Variants ranked by a model of speed before any of them is built: a random sample, and what is near the best of it.

The transformation of a variant takes longer than its features and its score, so that of a large space a sample is transformed, then
neighbours of those that promise most, in a few rounds: a search of its own, in which trials cost milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from orio_py.model.speed.catalog import SpeedModel, load_speed_model
from orio_py.model.speed.data import is_of_kernels
from orio_py.search.base import FeatureSource, PastSeries
from orio_py.search.memory import Memory
from orio_py.search_space.encoding import Point

SHIPPED = Path(__file__).parent.parent / "model" / "shipped"
"""The models that come with the program: `c.npz` of C code, `kernels.npz` of kernels for devices."""

FIRST = 8
"""So many points are looked at before it is known which model fits."""
CLIMBERS, STEPS = 5, 10
"""How many of the best points have neighbours looked at in a round, and how many of these each."""
LEAST_FIT = 0.5
"""The share of a model's features that a variant must have."""


def fitting_model(features: Mapping[str, float], model: SpeedModel | None = None) -> SpeedModel | None:
    """The model, or without one that which comes with the program, if it knows enough of a variant's features; else None.

    Raises DiagnosticError as `load_speed_model`.
    """
    if model is None:
        path = SHIPPED / ("kernels.npz" if is_of_kernels(features) else "c.npz")
        if not path.exists():
            return None
        model = load_speed_model(path)
    known = sum(name in features for name in model.features)
    return model if known >= LEAST_FIT * len(model.features) else None


class PredictedRanking:
    """Points of a space with their scores; `look` has to find some before there is anything else.

    Without `model` the one counts that comes with the program.
    """

    def __init__(self, memory: Memory, source: FeatureSource, model: SpeedModel | None = None) -> None:
        self._memory, self._source, self.model = memory, source, model
        self._scores: dict[Point, float] = {}
        self._features: dict[Point, Mapping[str, float]] = {}
        self.refused: list[Point] = []

    def __len__(self) -> int:
        return len(self._scores)

    def look(self, sample: int, rounds: int) -> bool:
        """Rank a random sample and what is near the best; whether there is a model that tells anything of them."""
        drawn = self._memory.draw_many(sample)
        self._extract(drawn[:FIRST])
        if self._features and not self._fits():
            return False
        self._extract(drawn[FIRST:])
        if not self._features:
            return False
        self._rate(list(self._features))
        for _ in range(rounds):
            fresh = self._near_the_best()
            self._extract(fresh)
            self._rate([point for point in fresh if point in self._features])
        return True

    def _fits(self) -> bool:
        self.model = fitting_model(next(iter(self._features.values())), self.model)
        return self.model is not None

    def _extract(self, points: Sequence[Point]) -> None:
        configurations = [self._memory.encoding.configuration(point) for point in points]
        for point, found in zip(points, self._source(configurations), strict=True):
            if found is None:
                self.refused.append(point)
            else:
                self._features[point] = found

    def _rate(self, points: Sequence[Point]) -> None:
        if points:
            assert self.model is not None
            scores = self.model.scores([self._features[point] for point in points])
            self._scores.update(zip(points, scores.tolist(), strict=True))

    def _near_the_best(self) -> list[Point]:
        rng, near = self._memory.rng, self._memory.near
        seen = {*self._features, *self.refused}
        found: dict[Point, None] = {}
        for point in self.ordered()[:CLIMBERS]:
            others = [other for other in near.hamming(point) if other not in seen and other not in found]
            found.update(dict.fromkeys(rng.sample(others, min(STEPS, len(others)))))
        return list(found)

    def ordered(self) -> list[Point]:
        """All points that were looked at, the best first; those with features like an earlier one's come last.

        Variants that do not differ in any feature cannot be told apart: one of them is tried before the others.
        """
        points = sorted(self._scores, key=lambda point: -self._scores[point])
        first: list[Point] = []
        again: list[Point] = []
        seen: set[tuple[float, ...]] = set()
        for point in points:
            content = tuple(self._features[point].values())
            (again if content in seen else first).append(point)
            seen.add(content)
        return first + again

    def best(self, count: int) -> list[Point]:
        """The best points that were not tried; fewer where fewer are left."""
        return [point for point in self.ordered() if point not in self._memory.known][:count]

    def score(self, point: Point) -> float:
        """The score of a point that was looked at."""
        return self._scores[point]

    def as_series(self) -> PastSeries:
        """What is predicted as if it had been measured: each configuration with its expected relative time."""
        points = list(self._scores)
        if not points:
            return ()
        assert self.model is not None
        times = self.model.expected_times(np.array([self._scores[point] for point in points]))
        configurations = map(self._memory.encoding.configuration, points)
        return list(zip(configurations, times.tolist(), strict=True))
