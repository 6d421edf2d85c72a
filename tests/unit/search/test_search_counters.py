"""Counter-guided search on a kernel whose counters and times are formulas."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import product
from math import inf
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.units import Seconds
from orio_py.model.counters.busy_time import counter_features, operation_costs, typical_costs
from orio_py.model.counters.files import save_model
from orio_py.model.counters.model import Array, CounterModel, Domain, ModelParameter, TrainingSet
from orio_py.model.counters.trees import grow_ensemble
from orio_py.record.outcome import Outcome
from orio_py.search.base import PredictionTrust, ProfiledBatch, Search, SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search.counter_guided import CountersOptions, guided_by
from orio_py.search.counter_policy import LEAST_TRIALS
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.listed import space_of_rows

ROWS = [
    Configuration({"BLOCK": block, "TILE": tile, "UNROLL": unroll, "CACHE": cache})
    for block, tile, unroll, cache in product(
        (32, 64, 128, 256, 512), range(1, 13), (1, 2, 3, 4, 6, 8), (0, 1)
    )
]
SPACE = space_of_rows(ROWS)
NAMES = ("DRAM_RT", "L2_RT", "INST_EXE", "OCCUPANCY", "BLOCK")
PROFILER = {
    "DRAM_RT": "dram__sectors_read.sum",
    "L2_RT": "lts__t_sectors_op_read.sum",
    "INST_EXE": "smsp__inst_executed.sum",
    "OCCUPANCY": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "BLOCK": "threads_per_block",
}


def work(row: Configuration) -> dict[str, float]:
    """The counters of a configuration, whatever the device."""
    block, tile, unroll, cache = (float(row[name]) for name in row)  # type: ignore[arg-type]
    return {
        "DRAM_RT": 1e6 * (1 + 8 / tile) * (0.8 if cache else 1.0),
        "L2_RT": 4e6 * (1 + 16 / tile) / unroll**0.5,
        "INST_EXE": 3e6 * (1 + 2 / unroll) * (1 + 32 / block),
        "OCCUPANCY": 100 * min(1.0, 24 / (tile * unroll)) * min(1.0, block / 128),
        "BLOCK": block,
    }


def fails(row: Configuration) -> bool:
    """Whether a configuration needs too much of a multiprocessor."""
    return int(row["BLOCK"]) * int(row["TILE"]) > 4096  # type: ignore[call-overload]


DEVICES = {"wide": (8e-12, 2e-12, 1e-12, 40e-12), "narrow": (20e-12, 1e-12, 4e-12, 20e-12)}
"""Seconds per operation of global memory, cache and instructions, and of instructions that wait."""


@cache
def run(row: Configuration, device: str) -> Outcome:
    """Time and counters on a device."""
    if fails(row):
        return Outcome.of(row, None)
    counted, costs = work(row), DEVICES[device]
    busy = [counted[name] * cost for name, cost in zip(NAMES, costs, strict=False)]
    wait = costs[3] * counted["INST_EXE"] / counted["OCCUPANCY"]
    own = 1 + 0.05 * random.Random(str(sorted(row.items()))).random()
    seconds = (sum(busy) + wait) * own
    counters = {PROFILER[name]: value for name, value in counted.items()}
    counters |= {
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": 100 * busy[0] / seconds,
        "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 100 * busy[1] / seconds,
        "smsp__issue_active.avg.pct_of_peak_sustained_active": 100 * busy[2] / seconds,
    }
    return Outcome(row, (seconds,), counters=counters)


DOMAIN = Domain(tuple(ModelParameter(name) for name in ROWS[0]), NAMES)


def model(share: float = 0.3) -> CounterModel:
    rows = [row for row in random.Random(5).sample(ROWS, int(share * len(ROWS))) if not fails(row)]
    counters = np.array([[work(row)[name] for name in NAMES] for row in rows])
    return grow_ensemble(TrainingSet(DOMAIN, DOMAIN.rows(rows), counters))


MODEL = model()


def plain(device: str) -> Callable[[Configuration], Outcome]:
    return lambda row: Outcome.of(row, run(row, device).objective)


class Found(Exception):
    """The search is over."""


def needed(search: Search, device: str, threshold: float = 1.05, most: int = 80) -> int:
    """Evaluations, profiled ones included, until a time within the threshold of the least."""
    least = min(found for row in ROWS if (found := run(row, device).objective) is not None)
    count = 0

    def answer(row: Configuration) -> Outcome:
        nonlocal count
        count += 1
        outcome = run(row, device)
        if outcome.objective is not None and outcome.objective <= threshold * least:
            raise Found
        return outcome

    with suppress(Found):
        drive(search, lambda row: Outcome.of(row, answer(row).objective), most, answer)
    return count


def guided(seed: int, found: CounterModel, batch: int = 1, **options: object) -> Search:
    context = SearchContext(SPACE, random.Random(seed), {}, None, batch)
    return guided_by(found, context, CountersOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("device", DEVICES)
def test_a_model_finds_the_best_sooner_than_other_searchers_on_every_device(device: str) -> None:
    own = [needed(guided(seed, MODEL), device) for seed in range(4)]
    published = [needed(guided(seed, MODEL, method="published"), device) for seed in range(4)]
    drawn, usual = (
        [
            needed(start_search(name, SearchContext(SPACE, random.Random(seed), {}, None, 1)), device)
            for seed in range(4)
        ]
        for name in ("random", "auto")
    )
    assert fmean(own) < 0.5 * fmean(drawn)
    assert device == "narrow" or fmean(published) < fmean(drawn)
    assert fmean(own) < 0.7 * fmean(usual)


OTHERS: list[int] = np.random.default_rng(0).permutation(len(ROWS)).tolist()
PLACES = {tuple(row): place for place, row in enumerate(DOMAIN.rows(ROWS).tolist())}


class Misleading:
    """Predictions of other configurations."""

    domain = DOMAIN

    def predict(self, rows: Array) -> Array:
        others = [ROWS[OTHERS[PLACES[tuple(row)]]] for row in rows.tolist()]
        return MODEL.predict(DOMAIN.rows(others))


class Larger:
    """Predictions for another size of the input: eight times the work."""

    domain = DOMAIN

    def predict(self, rows: Array) -> Array:
        return MODEL.predict(rows) * np.array(
            [1.0 if name in ("OCCUPANCY", "BLOCK") else 8.0 for name in NAMES]
        )


def course(
    found: CounterModel, seed: int, trials: int
) -> tuple[list[Configuration], list[Configuration], bool]:
    """What was tried and what was profiled, and whether the model was followed to the end."""
    told: list[PredictionTrust] = []
    rows: list[Configuration] = []
    profiled: list[Configuration] = []

    def evaluate(row: Configuration) -> Outcome:
        rows.append(row)
        return plain("wide")(row)

    def profile(row: Configuration) -> Outcome:
        profiled.append(row)
        return run(row, "wide")

    context = SearchContext(SPACE, random.Random(seed), {}, None, 1, trusted=told.append)
    drive(guided_by(found, context, CountersOptions()), evaluate, trials, profile)
    return rows, profiled, bool(told) and told[-1].is_followed and told[-1].dropped_after is None


def without(seed: int, trials: int) -> list[Configuration]:
    search = start_search("auto", SearchContext(SPACE, random.Random(seed), {}, None, 1))
    return [row for row, _ in drive(search, plain("wide"), trials)]


def test_a_model_that_misleads_costs_a_profile_at_most() -> None:
    profiles = 0
    for seed in range(8):
        rows, profiled, is_followed = course(Misleading(), seed, 20)
        profiles += len(profiled)
        assert not is_followed
        assert len(profiled) <= 1
        assert rows == without(seed, 20)[: len(rows)]
    # The trials tell most of the time, at no cost.
    assert profiles <= 4


@pytest.mark.parametrize("found", [MODEL, Larger()], ids=["here", "another size"])
def test_a_model_is_followed_once_the_first_trials_agree_with_it(found: CounterModel) -> None:
    followed = 0
    for seed in range(6):
        rows, profiled, is_followed = course(found, seed, 14)
        followed += is_followed
        own = without(seed, 8)
        same = next(
            (place for place, pair in enumerate(zip(rows, own, strict=False)) if pair[0] != pair[1]), 8
        )
        assert same >= LEAST_TRIALS
        assert len(profiled) <= 1
        if is_followed and same < 8:
            assert profiled == [min(rows[:same], key=lambda row: run(row, "wide").objective or inf)]
    assert followed >= 4


def with_counted(seed: int, rows: int, answer: Callable[[Configuration], Outcome]) -> tuple[int, bool]:
    """Evaluations of the default search that knows counters of trials on another device, and whether it followed them."""
    told: list[PredictionTrust] = []
    drawn = [row for row in random.Random(9).sample(ROWS, rows) if not fails(row)]
    counted = [(row, run(row, "narrow").counters) for row in drawn]
    context = SearchContext(SPACE, random.Random(seed), {}, None, 1, counted=counted, trusted=told.append)
    least = min(found for row in ROWS if (found := run(row, "wide").objective) is not None)
    tried = drive(start_search("auto", context), answer, 80)
    number = next((k for k, (_, time) in enumerate(tried, 1) if (time or inf) <= 1.05 * least), 80)
    return number, bool(told) and told[-1].is_followed and told[-1].dropped_after is None


def test_the_default_search_follows_counters_that_a_past_has_where_trials_have_some() -> None:
    # As kernels that are emulated do, trials come with their counters.
    found = [with_counted(seed, 100, lambda row: run(row, "wide")) for seed in range(4)]
    usual = [
        needed(start_search("auto", SearchContext(SPACE, random.Random(seed), {}, None, 1)), "wide")
        for seed in range(4)
    ]
    assert sum(is_followed for _, is_followed in found) >= 3
    assert fmean(number for number, _ in found) < 0.7 * fmean(usual)
    assert not with_counted(0, 100, plain("wide"))[1]
    assert with_counted(0, 10, lambda row: run(row, "wide")) == (usual[0], False)


def test_typical_costs_are_those_of_no_kind_of_device() -> None:
    gpu = typical_costs(("DRAM_RT", "INST_EXE"))
    assert gpu is not None
    each = {cost.name: cost.seconds for cost in gpu.costs}
    # A sector of memory takes a chip as long as 11 to 44 instructions of warps, one of the L2 cache as long as 3 to 9.
    assert 10 < each["global memory"] / each["issue of instructions"] < 45
    assert 3 < each["L2 cache"] / each["issue of instructions"] < 9
    own = typical_costs(("instructions", "last_level_misses", "user_time"))
    assert own is not None
    assert {cost.name: cost.seconds for cost in own.costs} == {
        "instructions": 0.25,
        "last_level_misses": 100.0,
    }
    assert typical_costs(("user_time",)) is None


@pytest.mark.parametrize(("method", "batch"), [("costs", 5), ("published", 1)])
def test_everything_is_tried_once_and_profiled_once_at_most(method: str, batch: int) -> None:
    rows = random.Random(3).sample(ROWS, 60)
    context = SearchContext(space_of_rows(rows), random.Random(2), {}, None, batch)
    search = guided_by(MODEL, context, CountersOptions(method=method))
    tried: list[Configuration] = []
    profiled: list[Configuration] = []
    found = next(search, None)
    while found is not None:
        if isinstance(found, ProfiledBatch):
            assert set(found) <= set(tried)
            profiled += found
        else:
            assert 1 <= len(found) <= batch
            tried += found
        try:
            found = search.send(
                [
                    run(row, "wide") if isinstance(found, ProfiledBatch) else plain("wide")(row)
                    for row in found
                ]
            )
        except StopIteration:
            found = None
    assert sorted(map(str, tried)) == sorted(map(str, rows))
    assert len(set(profiled)) == len(profiled) >= 1
    assert method == "published" or len(profiled) == 1


@pytest.mark.parametrize("method", ["costs", "published"])
def test_without_counters_the_default_searcher_goes_on(method: str) -> None:
    tried = drive(guided(1, MODEL, method=method), plain("wide"), 20)
    assert len({row for row, _ in tried}) >= 17


def test_counters_that_come_with_outcomes_are_not_asked_for() -> None:
    search = guided(4, MODEL)
    found = next(search)
    for _ in range(12):
        assert not isinstance(found, ProfiledBatch)
        found = search.send([run(row, "narrow") for row in found])


def test_only_failures_end_with_the_space() -> None:
    rows = ROWS[:40]
    search = guided_by(MODEL, SearchContext(space_of_rows(rows), random.Random(1)), CountersOptions())
    assert len(drive(search, lambda row: None)) == 40


def test_large_spaces_have_some_candidates() -> None:
    rows = [Configuration({**row, "SEED": seed}) for row in ROWS for seed in range(16)]
    search = guided_by(MODEL, SearchContext(space_of_rows(rows), random.Random(1)), CountersOptions())

    def known(row: Configuration) -> Outcome:
        return run(Configuration({name: row[name] for name in ROWS[0]}), "wide")

    tried = drive(search, lambda row: Outcome.of(row, known(row).objective), 30, known)
    assert len(tried) == 30


# --- costs ---


def test_costs_of_a_profile_give_its_time_again() -> None:
    outcome = run(ROWS[30], "wide")
    assert outcome.objective is not None
    costs = operation_costs(Seconds(outcome.objective), outcome.counters, NAMES)
    assert costs is not None
    counted = np.array([[work(ROWS[30])[name] for name in NAMES]])
    assert costs.times(NAMES, counted).sum() == pytest.approx(outcome.objective)
    assert {cost.name for cost in costs.costs} == {
        "global memory",
        "L2 cache",
        "issue of instructions",
        "latency",
    }


def test_costs_of_processors_are_in_proportion_to_cycles() -> None:
    counted = {"instructions": 3600.0, "l1_data_misses": 10.0, "last_level_misses": 10.0, "user_time": 1.0}
    costs = operation_costs(Seconds(2.0), counted, list(counted))
    assert costs is not None
    assert {cost.name: cost.seconds for cost in costs.costs} == pytest.approx(
        {"instructions": 2.5e-4, "l1_data_misses": 1e-2, "last_level_misses": 0.1}
    )


def test_counters_that_no_cost_is_known_of_give_none() -> None:
    assert operation_costs(Seconds(1.0), {"user_time": 1.0}, ["user_time"]) is None
    assert operation_costs(Seconds(1.0), {"instructions": 1.0}, []) is None
    assert operation_costs(Seconds(0.0), {"instructions": 1.0}, ["instructions"]) is None


def test_features_leave_out_what_is_alike() -> None:
    times = np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0], [3.0, 1.0, 0.0]])
    found = counter_features(times, ("x", "y", "z"), times)
    assert found.shape == (3, 2)
    assert found.mean(axis=0) == pytest.approx([0, 0])


# --- options ---


def test_a_model_is_named_by_its_file(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "m.npz")
    context = SearchContext(SPACE, random.Random(1), {"model": str(tmp_path / "m.npz")}, None, 1)
    assert needed(start_search("counters", context), "wide") < 20


@pytest.mark.parametrize("value", ["missing.npz", 7, ""])
def test_a_file_that_is_no_model_is_refused(value: object) -> None:
    context = SearchContext(SPACE, random.Random(1), {"model": value})  # type: ignore[dict-item]
    with pytest.raises(DiagnosticError):
        start_search("counters", context)


def test_a_model_of_other_parameters_is_refused(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "m.npz")
    space = space_of_rows([Configuration({"X": x}) for x in range(50)])
    with pytest.raises(DiagnosticError) as caught:
        start_search("counters", SearchContext(space, random.Random(1), {"model": str(tmp_path / "m.npz")}))
    assert caught.value.diagnostics[0].code == "ORIO-P023"
    assert "needs the parameter `BLOCK`" in caught.value.diagnostics[0].message
