"""Searches that static features guide, on a kernel whose features and times are formulas."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean

import pytest
from speed_series import trials_of

from orio_py.core.diagnostics import DiagnosticError
from orio_py.features.catalog import FAMILIES
from orio_py.model.speed.catalog import load_speed_model, save_speed_model, train_speed
from orio_py.model.speed.data import speed_data
from orio_py.search.base import PredictionTrust, SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search.ranking import LEAST_TRIALS, SHIPPED
from orio_py.search.trust import EARNED
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.listed import space_of_rows

ROWS = [
    Configuration({"T": tile, "U": unroll, "V": vector})
    for tile, unroll, vector in product((1, 8, 16, 32, 64, 128), range(1, 13), (False, True))
]
SPACE = space_of_rows(ROWS)
REFUSED = [row for row in ROWS if row["U"] == 7]


def features(row: Configuration) -> Mapping[str, float]:
    """Tiles keep bytes in the cache; `V` makes strides of one element; unrolling helps a little."""
    bytes_in = 0.5 + abs(32 - row["T"]) / 4
    return {
        "cache_1_bytes": bytes_in,
        "loads": 1 + 1 / row["U"],
        "operations": 1e5,
        "unit_stride": 1.0 if row["V"] else 0.25,
    }


def seconds(row: Configuration) -> float | None:
    if row in REFUSED:
        return None
    found = features(row)
    return 1e-3 * (1 + found["cache_1_bytes"] / found["unit_stride"] + 0.3 * abs(row["U"] - 4))


def source(rows: Sequence[Configuration]) -> list[Mapping[str, float] | None]:
    return [None if row in REFUSED else features(row) for row in rows]


def misleading(rows: Sequence[Configuration]) -> list[Mapping[str, float] | None]:
    """As if the slow ones were fast."""
    return [{**features(row), "cache_1_bytes": 20 - features(row)["cache_1_bytes"]} for row in rows]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a model that was trained on other kernels."""
    path = tmp_path_factory.mktemp("models") / "m.npz"
    (data,) = speed_data([one for name in ("a", "b", "c") for one in trials_of(name, 60)])
    save_speed_model(train_speed(data), path)
    return str(path)


def run(name: str, seed: int, trials: int | None = None, found=None, **options) -> list[Configuration]:
    if name == "auto" and found is not None:
        options = {"predict": 1, **options}
    context = SearchContext(SPACE, random.Random(seed), options, trials, 4, features=found)
    return [row for row, _ in drive(start_search(name, context), seconds, trials)]


def trials_to_the_best(rows: Sequence[Configuration]) -> int:
    best = min(value for row in ROWS if (value := seconds(row)) is not None)
    found = (k for k, row in enumerate(rows, 1) if (seconds(row) or 1) <= 1.1 * best)
    return next(found, len(rows) + 1)


@pytest.mark.parametrize(("name", "trials"), [("model", len(ROWS)), ("auto", 30)])
def test_each_configuration_is_tried_once_and_the_same_for_a_seed(name, trials, model):
    rows = run(name, 1, trials, source, model=model)
    assert len(set(rows)) == len(rows) == trials
    assert rows == run(name, 1, trials, source, model=model)


def test_what_is_predicted_comes_first(model):
    found = [trials_to_the_best(run("model", seed, 80, source, model=model)) for seed in range(5)]
    at_random = [trials_to_the_best(run("random", seed)) for seed in range(5)]
    assert fmean(found) <= 6
    assert fmean(at_random) > 2 * fmean(found)
    (first, *_) = run("model", 3, 4, source, model=model)
    assert first["V"] is True
    assert first["T"] == 32


def test_refused_configurations_are_tried_last(model):
    rows = run("model", 2, 100, source, model=model, sample=200, rounds=0)
    assert not set(rows) & set(REFUSED)


def heard(seed: int, found, **options) -> tuple[list[Configuration], list[PredictionTrust]]:
    """The trials of the default search with a prediction, and what became of it."""
    told: list[PredictionTrust] = []
    context = SearchContext(
        SPACE, random.Random(seed), {"predict": 1, **options}, 40, 4, features=found, trusted=told.append
    )
    return [row for row, _ in drive(start_search("auto", context), seconds, 40)], told


def test_trust_is_earned_by_the_first_trials(model):
    rows, told = heard(1, source, model=model)
    assert rows[:8] == run("auto", 1, 8)
    last = told[-1]
    assert last.is_followed
    assert last.correlation >= EARNED
    assert last.trials >= LEAST_TRIALS
    best = heard(2, source, model=model)[0][last.trials : last.trials + 3]
    assert all(row["T"] == 32 for row in best)


@pytest.mark.parametrize("seed", range(4))
def test_a_prediction_that_does_not_agree_changes_nothing(model, seed):
    rows, told = heard(seed, misleading, model=model)
    assert rows == run("auto", seed, 40)
    assert told
    assert not any(one.is_followed for one in told)


def test_a_prediction_that_misleads_where_it_promises_most_is_dropped(model):
    tried = set(run("auto", 1, 8))

    def swapped(row: Configuration) -> Configuration:
        return Configuration({"T": 1 if row["T"] == 32 else 32, "U": row["U"], "V": not row["V"]})

    def flattering(rows: Sequence[Configuration]) -> list[Mapping[str, float] | None]:
        """Right of what was tried; of what was not, the slowest look like the fastest."""
        is_bait = [row not in tried and (row["T"], row["V"]) in ((32, True), (1, False)) for row in rows]
        return [
            None if row in REFUSED else features(swapped(row) if bait else row)
            for row, bait in zip(rows, is_bait, strict=True)
        ]

    _, told = heard(1, flattering, model=model)
    assert any(one.is_followed for one in told)
    assert told[-1].dropped_after is not None


@pytest.mark.proof
def test_the_default_takes_a_prediction_as_far_as_it_holds(model):

    def mean(found=None, **options) -> float:
        return fmean(trials_to_the_best(run("auto", seed, 40, found, **options)) for seed in range(6))

    plain, helped, misled = mean(), mean(source, model=model), mean(misleading, model=model)
    assert helped < plain
    assert misled == plain
    assert run("auto", 1, 16, source, model=model, predict=0) == run("auto", 1, 16)


def test_without_features_the_search_is_the_default(model):
    assert run("model", 4, 20, model=model) == run("auto", 4, 20)


def test_features_that_a_model_does_not_know_are_left_alone(model):
    def others(rows: Sequence[Configuration]) -> list[Mapping[str, float] | None]:
        return [{"local_memory": 1.0} for _ in rows]

    rows = run("model", 5, 20, others, model=model)
    assert len(rows) == len(set(rows)) == 20


@pytest.mark.parametrize("name", ["model", "auto"])
def test_a_file_that_is_no_model_is_refused(name, tmp_path):
    (tmp_path / "m.npz").write_bytes(b"no model")
    for path, code in ((tmp_path / "m.npz", "ORIO-D022"), (tmp_path / "none.npz", "ORIO-U006")):
        with pytest.raises(DiagnosticError) as caught:
            run(name, 1, 10, source, model=str(path))
        assert caught.value.diagnostics[0].code == code


def test_the_model_that_comes_with_the_program_reads_all_features_of_c_code():
    path = SHIPPED / "c.npz"
    shipped = load_speed_model(path)
    known = {f.name for family in FAMILIES.values() if not family.of_kernels for f in family.features}
    assert set(shipped.features) == known
    assert len(shipped.trained_on) >= 10
    assert path.stat().st_size <= 1_000_000
    assert Path(path).suffix == ".npz"
