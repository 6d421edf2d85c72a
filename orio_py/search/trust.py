"""How far a prediction is believed: as far as it agrees with trials that it had no part in.

A model that was trained on other kernels, devices or sizes helps with some tasks and misleads with others, and nothing tells
beforehand which.  So a search begins without it.  When enough was tried, the order that the prediction gives to those trials is
compared with the measured one, by Spearman's rank correlation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, sqrt
from statistics import median
from typing import Protocol

import numpy as np

from orio_py.model.speed.judging import rank_correlation
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.search.base import TrustListener, unheard
from orio_py.search.memory import Memory
from orio_py.search_space.encoding import Point

EARNED = 0.5
"""The least rank correlation of scores and speeds that earns trust, with however many trials."""

CHANCE = 1.28
"""Standard normal deviate that one in ten exceed: correlations of n trials that mean nothing have a spread of 1/sqrt(n - 1)."""


class Predictor(Protocol):
    """What predicts speeds of points."""

    @property
    def trials(self) -> range:
        """Numbers of valid trials that its scores are compared with; where trust was not earned by then it never is.

        Each further look is a further chance for a prediction that means nothing.
        """
        ...

    def scores(self, points: Sequence[Point]) -> Mapping[Point, float]:
        """A score of each point, higher ones for faster points; points without one are left out, all where it knows none."""
        ...


def least_correlation(trials: int) -> float:
    """The correlation that earns trust: `EARNED`, and no less than what chance alone gives to one prediction in ten."""
    return max(EARNED, CHANCE / sqrt(trials - 1)) if trials > 1 else inf


@dataclass(slots=True)
class EarnedTrust:
    """What a prediction says of the trials of a memory, and whether it is followed.

    `listener` hears of each change.
    """

    memory: Memory
    predictor: Predictor
    listener: TrustListener = unheard
    trust: PredictionTrust = field(default_factory=PredictionTrust)
    _is_over: bool = False
    _looked_at: int = 0

    def is_earned(self) -> bool:
        """Whether the trials so far, for the first time, agree with the prediction; they are looked at until there are too many."""
        if self._is_over:
            return False
        points = [point for point, cost in self.memory.known.items() if cost < inf]
        if len(points) < self.predictor.trials.start or len(points) == self._looked_at:
            return False
        self._looked_at = len(points)
        self._is_over = len(points) not in self.predictor.trials
        found = self.predictor.scores(points)
        if not found:
            self._is_over = True
            return False
        costs = np.array([self.memory.known[point] for point in found])
        self._tell(PredictionTrust(len(found), rank_correlation(np.array(list(found.values())), -costs)))
        if self.trust.correlation < least_correlation(len(found)) or self._is_over:
            return False
        self._is_over = True
        self._tell(replace(self.trust, is_followed=True))
        return True

    def misleads(self, points: Sequence[Point]) -> bool:
        """Whether none of the points that are predicted to be fastest is in the faster half of those before; then it is dropped."""
        others = [
            cost for point, cost in self.memory.known.items() if cost < inf and point not in set(points)
        ]
        best = min((self.memory.known[point] for point in points), default=inf)
        if not others or best <= median(others):
            return False
        self.drop()
        return True

    def drop(self) -> None:
        """The prediction is followed no more."""
        if self.trust.is_followed and self.trust.dropped_after is None:
            self._tell(replace(self.trust, dropped_after=len(self.memory)))

    def _tell(self, trust: PredictionTrust) -> None:
        self.trust = trust
        self.listener(trust)
