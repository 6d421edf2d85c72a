"""NSGA-II by Optuna: points of a grid whose values by several objectives approach the Pareto front.

K. Deb, A. Pratap, S. Agarwal and T. Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II",
IEEE Transactions on Evolutionary Computation 6(2), 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState


class FrontSampler:
    """Proposes points, and is told what they achieve by each of `objectives` objectives, less being better.

    `axes` have their numbers of places, and tell whether the order of these means something.
    """

    def __init__(
        self, axes: Sequence[tuple[int, bool]], objectives: int, *, population: int, seed: int
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.NSGAIISampler(population_size=population, seed=seed)
        directions = [StudyDirection.MINIMIZE] * objectives
        self._study = optuna.create_study(directions=directions, sampler=sampler)
        self._axes: dict[str, BaseDistribution] = {
            f"x{number}": _distribution(*axis) for number, axis in enumerate(axes)
        }
        self._waiting: dict[int, Any] = {}

    def ask(self) -> tuple[int, tuple[int, ...]]:
        """The number of a proposal, and its places."""
        trial = self._study.ask(self._axes)
        self._waiting[trial.number] = trial
        return trial.number, tuple(int(trial.params[name]) for name in self._axes)

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        """What a proposal achieved; None for a failure."""
        trial = self._waiting.pop(number)
        if values is None:
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, list(values))


def _distribution(size: int, is_ordered: bool) -> BaseDistribution:
    return IntDistribution(0, size - 1) if is_ordered else CategoricalDistribution(tuple(range(size)))
