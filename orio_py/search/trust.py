"""How far a prediction is believed: as far as it agrees with trials that it had no part in.

A model of speed that was trained on other kernels helps with some and misleads with others, and nothing tells beforehand which.
So a search begins without it.  When enough was tried, the order that the model gives to those trials is compared with the
measured one, by Spearman's rank correlation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from statistics import median

import numpy as np

from orio_py.model.speed.catalog import SpeedModel
from orio_py.model.speed.judging import rank_correlation
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.search.base import FeatureSource, TrustListener
from orio_py.search.memory import Memory
from orio_py.search.ranking import PredictedRanking, fitting_model
from orio_py.search_space.encoding import Point

EARNED = 0.5
"""The least rank correlation of scores and speeds that earns trust.  Chance alone gives as much to one in ten models with eight trials."""

LEAST_TRIALS, LAST_TRIALS = 8, 24
"""So many valid trials are waited for; with more than the second a prediction has nothing to tell that trials do not."""


@dataclass(slots=True)
class EarnedTrust:
    """What a model says of the trials of a memory, and whether it is followed.

    `listener` hears of each change.
    """

    memory: Memory
    source: FeatureSource
    model: SpeedModel | None
    listener: TrustListener
    trust: PredictionTrust = field(default_factory=PredictionTrust)
    _is_over: bool = False

    def is_earned(self) -> bool:
        """Whether the trials so far, for the first time, agree with the model; they are looked at until there are too many."""
        if self._is_over:
            return False
        points = [point for point, cost in self.memory.known.items() if cost < inf]
        if len(points) < LEAST_TRIALS:
            return False
        self._is_over = len(points) > LAST_TRIALS
        found = self._features(points)
        if not found or (model := fitting_model(next(iter(found.values())), self.model)) is None:
            self._is_over = True
            return False
        self.model = model
        scores = model.scores(list(found.values()))
        costs = np.array([self.memory.known[point] for point in found])
        self._tell(PredictionTrust(len(found), rank_correlation(scores, -costs)))
        if self.trust.correlation < EARNED or self._is_over:
            return False
        self._is_over = True
        self._tell(replace(self.trust, is_followed=True))
        return True

    def ranking(self, sample: int) -> PredictedRanking | None:
        """So many random points, ranked; None where none can be."""
        found = PredictedRanking(self.memory, self.source, self.model)
        return found if found.look(sample, 0) else None

    def misleads(self, points: list[Point]) -> bool:
        """Whether none of the points that the model ranks first is in the faster half of those before; then it is dropped."""
        others = [
            cost for point, cost in self.memory.known.items() if cost < inf and point not in set(points)
        ]
        best = min((self.memory.known[point] for point in points), default=inf)
        if not others or best <= median(others):
            return False
        self.drop()
        return True

    def drop(self) -> None:
        """The model is followed no more."""
        if self.trust.is_followed and self.trust.dropped_after is None:
            self._tell(replace(self.trust, dropped_after=len(self.memory)))

    def _tell(self, trust: PredictionTrust) -> None:
        self.trust = trust
        self.listener(trust)

    def _features(self, points: list[Point]) -> dict[Point, Mapping[str, float]]:
        """The features of trials: as they were told with them, else as the source has them."""
        found: dict[Point, Mapping[str, float]] = {}
        for point in points:
            features = self.memory.outcomes[point].facts.features
            if not features:
                (features,) = self.source([self.memory.encoding.configuration(point)])
            if features:
                found[point] = features
        return found
