"""The public API on models that are trained from stored trials and kept in files.

A model of counters predicts what a kernel does by its tuning parameters; `--search counters:model=FILE` uses it.  A
model of speed ranks the variants of any kernel by their static features.

Raises as `orio_py.results` does, and DiagnosticError ORIO-D022, D023, D024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from orio_py.core.diagnostics import fail
from orio_py.model.counters.files import FORMAT, load_model, read_counter_model, save_model
from orio_py.model.counters.model import CounterModel, Domain, ModelParameter, TrainingSet, training_set
from orio_py.model.counters.pickled_trees import read_pickled_trees
from orio_py.model.counters.regression import RegressionModel, fit_regression
from orio_py.model.counters.trees import TreeModel, grow_ensemble, grow_tree
from orio_py.model.speed import catalog as speed
from orio_py.model.speed.catalog import SpeedModel, load_speed_model, save_speed_model
from orio_py.model.speed.data import SpeedData, SpeedSeries, speed_data
from orio_py.model.speed.judging import Judgement, judge
from orio_py.model.stored import read_model
from orio_py.record.trial import Trial
from orio_py.results import Place, Selection
from orio_py.store.database import ResultsDatabase
from orio_py.store.interchange import format_of, read

__all__ = [
    "KINDS",
    "SPEED_KINDS",
    "JudgedSeries",
    "SpeedModel",
    "TrainedModel",
    "TrainedSpeedModel",
    "apply_speed",
    "convert",
    "judged_json",
    "load_any_model",
    "load_model",
    "load_speed_model",
    "model_json",
    "save_model",
    "save_speed_model",
    "speed_model_json",
    "stored_trials",
    "train",
    "train_speed",
    "trials_of_files",
]

KINDS: Final[Mapping[str, Callable[[TrainingSet], CounterModel]]] = {
    "ensemble": grow_ensemble,
    "tree": grow_tree,
    "regression": fit_regression,
}
"""The kinds of models of counters, and what trains them."""

SPEED_KINDS = tuple(speed.KINDS)
"""The kinds of models of speed."""

_HELD_BACK = 5
"""Each fifth row is held back to see how well a model predicts."""
_FEWEST = 10
"""With fewer rows nothing is held back."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model, and the median relative error of each counter on trials that a model of the others was not told of.

    Without `errors` there were too few trials to hold some back.
    """

    model: CounterModel
    errors: Mapping[str, float]


def stored_trials(place: Place, selection: Selection) -> list[Trial]:
    """The trials meant, of the newest generation of each series."""
    with ResultsDatabase.open(place, create=False) as database:
        return database.history(selection)


def trials_of_files(paths: Sequence[Path]) -> list[Trial]:
    """The trials of files that `orio results import` reads."""
    now = datetime.now(UTC)
    return [trial for path in paths for trial in read(path, format_of(path), now)]


def train(trials: Sequence[Trial], kind: str = "ensemble") -> TrainedModel:
    """A model of what trials of one task counted, on any devices.  Raises DiagnosticError ORIO-D023."""
    training = training_set(trials)
    if training is None or not training.domain.counters or not training.domain.parameters:
        fail(
            "ORIO-D023",
            "none of the trials is valid and has counters",
            help="`orio explain ORIO-D023` tells how",
        )
    tasks = {trial.task for trial in trials if trial.counters}
    if len(tasks) > 1:
        message = f"the trials with counters belong to {len(tasks)} tasks; a model is of one"
        fail(
            "ORIO-D023",
            message,
            help="choose by `--file`, `--region` or `--task`; `orio results list` shows them",
        )
    return TrainedModel(KINDS[kind](training), _errors(training, kind))


def _errors(training: TrainingSet, kind: str) -> dict[str, float]:
    count = len(training.rows)
    if count < _FEWEST:
        return {}
    order = np.random.default_rng(0).permutation(count)
    held, rest = training.part(order[::_HELD_BACK]), training.part(np.delete(order, np.s_[::_HELD_BACK]))
    predicted = KINDS[kind](rest).predict(held.rows)
    apart = np.abs(predicted - held.counters) / np.maximum(np.abs(held.counters), 1.0)
    return dict(zip(training.domain.counters, np.median(apart, axis=0).tolist(), strict=True))


def convert(path: Path, parameters: Sequence[str], counters: Sequence[str]) -> CounterModel:
    """The trees of scikit-learn that another program pickled, with parameters and counters in the file's order."""
    return read_pickled_trees(path, Domain(tuple(map(ModelParameter, parameters)), tuple(counters)))


def model_json(model: CounterModel, errors: Mapping[str, float] | None = None) -> dict[str, object]:
    """A model in words and numbers."""
    domain = model.domain
    match model:
        case TreeModel(trees=trees):
            kind, size = "trees", {"trees": len(trees), "nodes": sum(len(tree.left) for tree in trees)}
        case RegressionModel(terms=terms, subspaces=subspaces):
            kind, size = "regression", {"terms": len(terms), "subspaces": len(subspaces)}
        case _:
            kind, size = type(model).__name__, {}
    origin = domain.trained_on
    return {
        "predicts": "counters",
        "kind": kind,
        **size,
        "parameters": [parameter.name for parameter in domain.parameters],
        "counters": list(domain.counters),
        "trained_on": {
            "name": origin.name,
            "device": origin.device,
            "inputs": dict(origin.inputs),
            "trials": origin.rows,
        },
        **({"median_relative_errors": dict(errors)} if errors else {}),
    }


@dataclass(frozen=True, slots=True)
class JudgedSeries:
    """How a model ranks the stored variants of a series."""

    name: str
    inputs: Mapping[str, object]
    variants: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class TrainedSpeedModel:
    """A model, and how models that were not told of a program rank its variants."""

    model: SpeedModel
    judged: tuple[JudgedSeries, ...]


def train_speed(trials: Sequence[Trial], kind: str = "forest") -> TrainedSpeedModel:
    """A model of the speeds of trials with static features.

    Each program is ranked by a model of all others, at any size.  Raises DiagnosticError ORIO-D024.
    """
    data = _one_kind(trials)
    judged: list[JudgedSeries] = []
    for name in dict.fromkeys(one.name for one in data.series):
        others = SpeedData(data.features, tuple(one for one in data.series if one.name != name))
        if others.series:
            model = speed.train_speed(others, kind)
            judged += [_judged(model, one) for one in data.series if one.name == name]
    return TrainedSpeedModel(speed.train_speed(data, kind), tuple(judged))


def apply_speed(model: SpeedModel, trials: Sequence[Trial]) -> tuple[JudgedSeries, ...]:
    """How a model ranks stored trials, by series.  Raises DiagnosticError ORIO-D024."""
    data = _one_kind(trials)
    return tuple(_judged(model, one) for one in data.series)


def _one_kind(trials: Sequence[Trial]) -> SpeedData:
    found = speed_data(trials)
    if not found:
        fail("ORIO-D024", "there is no series of eight valid trials with static features")
    if len(found) > 1:
        message = "the trials are of kernels and of C code, which have different features"
        fail("ORIO-D024", message, help="choose by `--file`, `--region` or `--task`")
    return found[0]


def _judged(model: SpeedModel, series: SpeedSeries) -> JudgedSeries:
    found = [trial.features for trial in series.trials]
    judgement = judge(model.scores(found), series.speeds)
    return JudgedSeries(series.name, series.inputs, len(series.speeds), judgement)


def judged_json(series: JudgedSeries) -> dict[str, object]:
    """A series with the judgement of its ranking."""
    judgement = series.judgement
    return {
        "name": series.name,
        "inputs": dict(series.inputs),
        "variants": series.variants,
        "runs_to_90_percent": judgement.runs,
        "random_runs": judgement.random_runs,
        "correlation": judgement.correlation,
        "rank_correlation": judgement.rank_correlation,
    }


def load_any_model(path: Path) -> CounterModel | SpeedModel:
    """Read a model of either sort.  Raises as `load_model`."""
    readers: Mapping[str, Callable[..., CounterModel | SpeedModel]] = {
        FORMAT: read_counter_model,
        speed.FORMAT: speed.read_speed_model,
    }
    return read_model(path, "a model", readers)


def speed_model_json(model: SpeedModel) -> dict[str, object]:
    """A model of speed in words and numbers."""
    return {
        "predicts": "speed",
        "kind": model.kind,
        "features": list(model.features),
        "trained_on": list(model.trained_on),
    }
