"""The Pareto front of stored trials: which variants no other one beats in every objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.frontend.objective import parse_objective
from orio_py.record.front import FrontPoint, not_dominated
from orio_py.record.measurement import Success
from orio_py.record.trial import Trial
from orio_py.spec.objective import Objective
from orio_py.tuning.variants.scoring import Scorer


@dataclass(frozen=True, slots=True)
class Front:
    """The points of a front by their objectives, the least value of the first objective first.

    `trials` are the trials of the points.  `judged` is how many trials have a value of every objective, `without`
    how many valid trials lack one: a counter that was not taken, say.
    """

    objectives: tuple[str, ...]
    points: tuple[FrontPoint, ...]
    trials: tuple[Trial, ...]
    judged: int
    without: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A point of a front, numbered from 1; without `objectives` of the front that `stored_objectives` gives."""

    objectives: tuple[str, ...] = ()
    point: int = 1


def stored_objectives(trials: Sequence[Trial]) -> tuple[str, ...]:
    """The objectives of the newest trial that has several; empty where none has."""
    return next((tuple(t.objectives) for t in reversed(trials) if len(t.objectives) > 1), ())


def front_of(trials: Sequence[Trial], objectives: Sequence[str]) -> Front:
    """The front of trials of one series by these expressions over times and counters.

    Raises DiagnosticError ORIO-S019 for expressions that are no objectives.
    """
    objective = parse_objective(objectives)
    texts = objective.texts if objective is not None else ("time",)
    found: list[tuple[Trial, tuple[float, ...]]] = []
    without = 0
    for trial in trials:
        if not isinstance(trial.measurement, Success):
            continue
        scored = _scored(trial, objective)
        if scored is None:
            without += 1
        else:
            found.append((trial, scored))
    chosen = [found[place] for place in not_dominated([values for _, values in found])]
    points = tuple(FrontPoint(dict(trial.configuration), values) for trial, values in chosen)
    return Front(texts, points, tuple(trial for trial, _ in chosen), len(found), without)


def _scored(trial: Trial, objective: Objective | None) -> tuple[float, ...] | None:
    scored = Scorer(objective).scored(trial.measurement, trial.counters)
    return scored.objectives if isinstance(scored, Success) else None
