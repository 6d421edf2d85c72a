"""Searches with and without a prediction, replayed on what was measured; the model has seen no trial of the program."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np

from orio_py.core.expr import Value
from orio_py.measure.replay import record
from orio_py.model.speed.catalog import save_speed_model, train_speed
from orio_py.model.speed.data import SpeedData, SpeedSeries, speed_data
from orio_py.search.base import FeatureSource, PredictionTrust, SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search.ranking import SHIPPED
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase

WITHIN = 1.05
"""A time of so many times the best of all that were measured is to be reached."""

BATCH = 1
"""Configurations that are proposed at once."""

SEARCHES: Mapping[str, tuple[str, bool]] = {
    "random": ("random", False),
    "auto without": ("auto", False),
    "auto with": ("auto", True),
    "model": ("model", True),
}
"""The searcher, and whether it is given features and a model."""


def replayed_table(place: Path, seeds: int, *, shipped: bool = False) -> str:
    """Trials to `WITHIN` for each program and search, means of some seeds; then geometric means over the programs.

    The model is trained on the other programs; with `shipped` it is the one that comes with the program.
    """
    with ResultsDatabase.open(place, create=False) as database:
        data = speed_data(database.history())[0]
    totals: dict[str, list[float]] = {label: [] for label in SEARCHES}
    lines: list[str] = []
    for own in data.series:
        others = SpeedData(data.features, tuple(one for one in data.series if one.name != own.name))
        with TemporaryDirectory() as folder:
            model = Path(folder) / "model.npz"
            if shipped:
                model = SHIPPED / "c.npz"
            else:
                save_speed_model(train_speed(others), model)
            heard: list[PredictionTrust] = []
            for label, (name, is_told) in SEARCHES.items():
                found = [_trials(own, name, model if is_told else None, seed, heard) for seed in range(seeds)]
                totals[label].append(fmean(found))
        numbers = "  ".join(f"{label} {values[-1]:.1f}" for label, values in totals.items())
        lines.append(f"{own.name} ({len(own.speeds)} variants): {numbers}  ({_told(heard)})")
    means = {label: float(np.exp(np.mean(np.log(values)))) for label, values in totals.items()}
    lines.append("geometric mean: " + "  ".join(f"{label} {value:.1f}" for label, value in means.items()))
    return "\n".join(lines)


def _told(heard: Sequence[PredictionTrust]) -> str:
    """How often a prediction was followed, and dropped again, and the mean rank correlation of the first look."""
    followed = sum(one.is_followed for one in heard)
    dropped = sum(one.dropped_after is not None for one in heard)
    mean = fmean(one.correlation for one in heard) if heard else 0.0
    return f"followed {followed} of {len(heard)}, dropped {dropped}, correlation {mean:.2f}"


def _trials(own: SpeedSeries, name: str, model: Path | None, seed: int, heard: list[PredictionTrust]) -> int:
    """How many trials a search needs; all of them where it does not get there.  `heard` gets what came of the prediction."""
    features = {trial.configuration: trial.features for trial in own.trials}
    times = {trial.configuration: 1.0 / speed for trial, speed in zip(own.trials, own.speeds, strict=True)}

    def source(rows: Sequence[Configuration]) -> list[Mapping[str, float] | None]:
        return [features.get(row) for row in rows]

    options: dict[str, Value] = {} if model is None else {"model": str(model)}
    if model is not None and name == "auto":
        options["predict"] = 1
    told: FeatureSource | None = None if model is None else source
    told_last: list[PredictionTrust] = []
    context = SearchContext(
        record(own.trials).space,
        random.Random(seed),
        options,
        len(times),
        BATCH,
        features=told,
        trusted=told_last.append,
    )
    tried = drive(start_search(name, context), times.get, len(times))
    heard += told_last[-1:]
    good = (k for k, (_, cost) in enumerate(tried, 1) if cost is not None and cost <= WITHIN)
    return next(good, len(times))
