"""Which parameters mattered: what a model that has learned from trials loses when it is told wrong values.

A forest of trees learns from four fifths of the trials how parameters decide the objective, and predicts the
last fifth, also with the values of one parameter shuffled; how much worse it then is, is that parameter's
importance.  Each fifth is held back once.
L. Breiman, "Random Forests", Machine Learning 45, 2001, section 10 (permutation importance).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orio_py.core.expr import Value
from orio_py.model.forest import Forest
from orio_py.search_space.configuration import value_key

FOLDS = 5
LEAST_TRIALS = 2 * FOLDS
"""With fewer, there is not enough to hold back."""
MOST_TRIALS = 2000
"""Of more trials as many are drawn: importances no longer change, only the time that they take."""
TREES = 60
SHUFFLES = 3


@dataclass(frozen=True, slots=True)
class Importance:
    """What is lost without a parameter, as a share of the variance of the (logarithm of the) objective.

    `loss` is the mean over the parts held back and `spread` the standard deviation between them; `share` is
    that of the losses of all parameters, and `values` says how many values the parameter had.
    """

    parameter: str
    loss: float
    spread: float
    share: float
    values: int


@dataclass(frozen=True, slots=True)
class Importances:
    """The importances, the largest first.

    `explained` is the share of the variance that predictions of trials held back account for: near 0, or
    below, nothing was learned and the importances say nothing.  `trials` is how many were learned from.
    """

    parameters: tuple[Importance, ...]
    explained: float
    trials: int


def importances(
    configurations: Sequence[Mapping[str, Value]], objectives: Sequence[float], *, seed: int = 0
) -> Importances:
    """The importance of each parameter for the objective of valid configurations, which share parameters.

    Where all objectives are positive their logarithms are learned, so that twice as slow counts the same
    everywhere.  Raises ValueError for fewer than `LEAST_TRIALS`, or where all objectives are equal.
    """
    rng = np.random.default_rng(seed)
    if len(objectives) < LEAST_TRIALS:
        raise ValueError(f"{len(objectives)} valid trials; at least {LEAST_TRIALS} are needed")
    is_positive = min(objectives) > 0
    targets = np.array([math.log(value) if is_positive else value for value in objectives])
    drawn: list[int] = rng.permutation(len(targets))[:MOST_TRIALS].tolist()
    chosen = sorted(drawn)
    targets = targets[chosen]
    variance = float(targets.var())
    if variance == 0:
        raise ValueError("all trials have the same objective")
    picked = [configurations[k] for k in chosen]
    names = list(picked[0])
    columns = [_places([configuration[name] for configuration in picked]) for name in names]
    features = np.array(columns, dtype=np.float32).T.copy()
    sizes = [len(set(column)) for column in columns]
    folds = np.array_split(rng.permutation(len(targets)), FOLDS)
    errors, losses = _cross_validated(features, targets, folds, sizes, rng)
    means: list[float] = (losses.mean(axis=0).clip(min=0.0) / variance).tolist()
    spreads: list[float] = (losses.std(axis=0) / variance).tolist()
    total = sum(means)
    found = [
        Importance(name, loss, spread, loss / total if total else 0.0, size)
        for name, loss, spread, size in zip(names, means, spreads, sizes, strict=True)
    ]
    found.sort(key=lambda importance: -importance.loss)
    return Importances(tuple(found), 1.0 - float(np.mean(errors)) / variance, len(targets))


def _cross_validated(
    features: npt.NDArray[np.float32],
    targets: npt.NDArray[np.float64],
    folds: Sequence[npt.NDArray[np.int64]],
    sizes: Sequence[int],
    rng: np.random.Generator,
) -> tuple[list[float], npt.NDArray[np.float64]]:
    """The mean square error per fold, and how much it grows per fold and parameter."""
    errors: list[float] = []
    losses = np.zeros((len(folds), features.shape[1]))
    for number, held_back in enumerate(folds):
        known = np.ones(len(targets), dtype=bool)
        known[held_back] = False
        forest = Forest(TREES, seed=number)
        forest.fit(features[known].astype(np.float64), [float(value) for value in targets[known]])
        rows, wanted = features[held_back].astype(np.float64), targets[held_back]
        errors.append(float(np.mean((forest.predict(rows).mean - wanted) ** 2)))
        for column in range(features.shape[1]):
            if sizes[column] > 1:
                grown = [_shuffled_error(forest, rows, wanted, column, rng) for _ in range(SHUFFLES)]
                losses[number, column] = float(np.mean(grown)) - errors[-1]
    return errors, losses


def _shuffled_error(
    forest: Forest,
    rows: npt.NDArray[np.float64],
    wanted: npt.NDArray[np.float64],
    column: int,
    rng: np.random.Generator,
) -> float:
    wrong = rows.copy()
    wrong[:, column] = rng.permutation(wrong[:, column])
    return float(np.mean((forest.predict(wrong).mean - wanted) ** 2))


def _places(values: Sequence[Value]) -> list[int]:
    """The place of each value among those that occur: numbers ascending, others as they come."""
    found = {value_key(value): value for value in values}
    numbers = {key: v for key, v in found.items() if isinstance(v, (bool, int, float))}
    keys = sorted(numbers, key=lambda key: numbers[key]) if len(numbers) == len(found) else list(found)
    places = {key: place for place, key in enumerate(keys)}
    return [places[value_key(value)] for value in values]
