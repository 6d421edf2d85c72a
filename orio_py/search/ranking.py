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
from orio_py.search.acquisition_policy import AcquisitionPolicy
from orio_py.search.base import FeatureSource, PastSeries, TrustListener
from orio_py.search.memory import Asking, Memory
from orio_py.search.trust import EarnedTrust
from orio_py.search_space.encoding import Point

SHIPPED = Path(__file__).parent.parent / "model" / "shipped"
"""The models that come with the program: `c.npz` of C code, `kernels.npz` of kernels for devices."""

FIRST = 8
"""So many points are looked at before it is known which model fits."""
CLIMBERS, STEPS = 5, 10
"""How many of the best points have neighbours looked at in a round, and how many of these each."""
LEAST_FIT = 0.5
"""The share of a model's features that a variant must have."""

LEAST_TRIALS, LAST_TRIALS = 8, 24
"""With so many valid trials a model of speed is compared; with more it has nothing to tell that trials do not."""

SAMPLE = 150
"""So many random configurations are ranked when the trials agree with the model.

Neighbours of the best are not: what is best of many predictions is where the model errs most.
"""

PREDICTED_FIRST = 3
"""So many of the ranking's best are tried as soon as it is believed."""


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


class RankedAdvice:
    """A model of speed, asked beside the default search.

    Once the trials agree with it the best of a ranking are tried, and the model of the trials goes on with what it predicts, as
    far as trials bear it out (`orio_py.search.warm_start.TransferWeight`).  `explore` and `roundness` are that model's.
    """

    trials = range(LEAST_TRIALS, LAST_TRIALS + 1)

    def __init__(
        self,
        memory: Memory,
        source: FeatureSource,
        model: SpeedModel | None,
        listener: TrustListener,
        *,
        explore: int,
        roundness: float,
    ) -> None:
        self._memory, self._source, self._model = memory, source, model
        self._explore, self._roundness = explore, roundness
        self._trust = EarnedTrust(memory, self, listener)

    def scores(self, points: Sequence[Point]) -> dict[Point, float]:
        """The scores of trials, by their features as they were told with them, else as the source has them."""
        found: dict[Point, Mapping[str, float]] = {}
        for point in points:
            features = self._memory.outcomes[point].facts.features
            if not features:
                (features,) = self._source([self._memory.encoding.configuration(point)])
            if features:
                found[point] = features
        if not found or (model := fitting_model(next(iter(found.values())), self._model)) is None:
            return {}
        self._model = model
        return dict(zip(found, model.scores(list(found.values())).tolist(), strict=True))

    def is_earned(self) -> bool:
        """Whether the trials agree with the model for the first time."""
        return self._trust.is_earned()

    def follow(self, guide: AcquisitionPolicy) -> Asking[AcquisitionPolicy]:
        """Try the ranking's best; what goes on takes what is predicted for a past, unless those mislead."""
        ranking = PredictedRanking(self._memory, self._source, self._model)
        if not ranking.look(SAMPLE, 0):
            return guide
        first = ranking.best(PREDICTED_FIRST)
        yield from self._memory.ask(first)
        if self._trust.misleads(first):
            return guide
        past = (ranking.as_series(),)
        return AcquisitionPolicy(self._memory, past, explore=self._explore, roundness=self._roundness)

    def look_at(self, guide: AcquisitionPolicy) -> None:
        """Drop the prediction where the guide has dismissed it."""
        if guide.past and not guide.follows_the_past:
            self._trust.drop()
