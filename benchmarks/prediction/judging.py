"""Runs to 90 % of the best and correlations, of models and of what they have to beat; each program held out in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np

from orio_py.core.expr import show
from orio_py.model.speed.catalog import KINDS, train_speed
from orio_py.model.speed.data import Array, SpeedData, SpeedSeries, speed_data
from orio_py.model.speed.judging import judge, redundancies
from orio_py.store.database import ResultsDatabase

PERMUTATIONS = 3
"""So many permuted trainings are averaged."""

Ranker = Callable[[SpeedData, SpeedSeries], list[Array]]
"""Gives the scores of a series, learned from others; several where chance plays a part."""


def by_model(kind: str) -> Ranker:
    """Models of a kind."""
    return lambda others, own: [train_speed(others, kind).row_scores(own.rows)]


def permuted(others: SpeedData, own: SpeedSeries) -> list[Array]:
    """A forest that was trained on speeds of other variants of the same series: nothing can be learned."""
    found: list[Array] = []
    for seed in range(PERMUTATIONS):
        rng = np.random.default_rng(seed)
        mixed = tuple(replace(one, speeds=rng.permutation(one.speeds)) for one in others.series)
        model = train_speed(replace(others, series=mixed))
        found.append(model.row_scores(own.rows))
    return found


def by_parameters(others: SpeedData, own: SpeedSeries) -> list[Array]:
    """The mean speed of the five nearest variants by the names and values of tuning parameters, without any feature.

    Programs share parameters as far as these have the same names; values count by the logarithm where they are numbers.
    """
    texts = [_parameters(trial.configuration) for one in others.series for trial in one.trials]
    speeds = np.concatenate([one.speeds for one in others.series])
    wanted = [_parameters(trial.configuration) for trial in own.trials]
    names = sorted({name for values in wanted for name in values})
    train = np.array([[values.get(name, -1.0) for name in names] for values in texts])
    rows = np.array([[values.get(name, -1.0) for name in names] for values in wanted])
    width = np.maximum(train.std(axis=0), 1e-9)
    apart = (np.square((rows[:, None, :] - train[None, :, :]) / width)).sum(axis=2)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, :5]
    return [speeds[nearest].mean(axis=1)]


def _parameters(configuration: Mapping[str, object]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in configuration.items():
        if isinstance(value, bool | int | float):
            found[name] = float(np.log2(1.0 + abs(float(value))))
        else:
            found[f"{name}={show(value)}"] = 1.0  # pyright: ignore[reportArgumentType]
    return found


def by_rule(others: SpeedData, own: SpeedSeries) -> list[Array]:
    """The one feature, up or down, whose ranks go best with the speeds of the other programs."""
    best, score = (0, 1.0), -1.0
    for place in range(len(others.features)):
        found = fmean(
            judge(one.rows[:, place], one.speeds).rank_correlation if one.rows[:, place].std() else 0.0
            for one in others.series
        )
        if abs(found) > score:
            best, score = (place, float(np.sign(found) or 1.0)), abs(found)
    return [best[1] * own.rows[:, best[0]]]


RANKERS: Mapping[str, Ranker] = {
    **{kind: by_model(kind) for kind in KINDS},
    "permuted": permuted,
    "parameters": by_parameters,
    "one feature": by_rule,
}


def judged_table(place: Path) -> str:
    """For each ranker the runs to 90 % by program, their geometric mean, and the mean correlations; the features' redundancies."""
    with ResultsDatabase.open(place, create=False) as database:
        data = speed_data(database.history())[0]
    names = [one.name for one in data.series]
    lines = [f"{data.count} variants: " + ", ".join(f"{one.name} {len(one.speeds)}" for one in data.series)]
    at_random = [judge(one.speeds, one.speeds).random_runs for one in data.series]
    lines.append(f"{'random':12} {_geometric(at_random):6.2f}               {_numbers(at_random)}")
    for label, ranker in RANKERS.items():
        runs: list[float] = []
        correlations: list[float] = []
        ranks: list[float] = []
        for own in data.series:
            others = replace(data, series=tuple(one for one in data.series if one.name != own.name))
            found = [judge(scores, own.speeds) for scores in ranker(others, own)]
            runs.append(_geometric([float(one.runs) for one in found]))
            correlations.append(fmean(one.correlation for one in found))
            ranks.append(fmean(one.rank_correlation for one in found))
        words = f"{_geometric(runs):6.2f} {fmean(correlations):6.2f} {fmean(ranks):6.2f}"
        lines.append(f"{label:12} {words}  {_numbers(runs)}")
    lines.append(
        "columns: geometric mean of runs, correlation, correlation of ranks; runs of " + ", ".join(names)
    )
    found_redundancies = list(redundancies(data).items())
    lines.append("redundancy with the speed: " + ", ".join(f"{n} {r:.3f}" for n, r in found_redundancies))
    return "\n".join(lines)


def _geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _numbers(values: list[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)
