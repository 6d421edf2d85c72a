"""Which stored trials are the past of a series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from trials import START, failure, series, success, trial

from orio_py.core.digest import digest
from orio_py.record.measurement import Clock, Stage
from orio_py.store.database import ResultsDatabase, Series
from orio_py.store.series import EarlierSeries, RegionKey

OWN = Series(digest("now"), digest("clang"), digest("desktop"))
REGION = RegionKey("elsewhere/mm.c", "mm")
LATER = START + timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ResultsDatabase]:
    with ResultsDatabase.open(tmp_path / "results.db") as opened:
        yield opened


def earlier(database: ResultsDatabase, objective: str | None = None, limit: int = 100) -> list[EarlierSeries]:
    return database.earlier(OWN, database.begin(OWN, LATER), REGION, objective, limit)


def values(found: EarlierSeries) -> dict[object, float | None]:
    return {configuration["U"]: value for configuration, value in found.trials.items()}


def test_series_of_the_same_region_or_task_are_its_past(database):
    for number in range(3):
        database.append(trial(number))
        database.append(trial(number, name="old name", file="old.c", task="now"))
        database.append(trial(number, task="other", name="mm", file="src/other.c"))
        database.append(trial(number, task="other"))
        own = {"task": "now", "toolchain": OWN.toolchain, "environment": OWN.environment}
        database.append(trial(number, **own, time=LATER))
    first, second = sorted(earlier(database), key=lambda found: found.series.task != OWN.task)
    assert (first.series.task, second.series) == (OWN.task, series())
    assert values(second) == {k: pytest.approx(1e-3 * (1 + k), rel=1e-3) for k in range(3)}
    assert second.inputs == {"N": 500, "alpha": 1.5}
    assert second.metadata["orio:param:U"] == "2"
    counted = {configuration["U"]: found["instructions"] for configuration, found in second.counters.items()}
    assert counted == {k: 1e6 + k for k in range(3)}
    assert [len(found.trials) for found in earlier(database, limit=2)] == [1, 1]


def test_measured_and_emulated_times_are_no_past_of_each_other(database):
    measured = success(2e-3)
    database.append_all(
        [trial(1, measured), trial(2, replace(measured, clock=Clock.EMULATED)), trial(3, failure())]
    )
    (found,) = earlier(database)
    assert values(found) == {1: pytest.approx(2e-3, rel=1e-3), 3: None}
    emulated = replace(REGION, emulated=True)
    (found,) = database.earlier(OWN, database.begin(OWN, LATER), emulated, None, 100)
    assert values(found) == {2: pytest.approx(2e-3, rel=1e-3), 3: None}


@pytest.mark.parametrize(
    ("stage", "counts"),
    [(Stage.CRASH, True), (Stage.MEMORY, True), (Stage.TIMEOUT, False), (Stage.CHECKED, False)],
)
def test_failures_count_where_the_configuration_is_the_reason(database, stage, counts):
    database.append_all([trial(1), trial(2, failure(stage))])
    (found,) = earlier(database)
    assert values(found) == {1: pytest.approx(2e-3, rel=1e-3), **({2: None} if counts else {})}


def test_the_value_of_an_objective_is_what_counts(database):
    database.append_all(
        [
            trial(1, objectives={"energy": 7.0, "time": 1.0}),
            trial(2),
            trial(3, failure(), objectives={"energy": None}),
            trial(4, failure()),
        ]
    )
    (found,) = earlier(database, "energy")
    assert values(found) == {1: 7.0, 3: None, 4: None}


def test_who_goes_on_with_a_series_has_the_same_past_again(database):
    database.append(trial(1))
    assert len(earlier(database)) == 1
    database.append(trial(2, time=LATER + timedelta(hours=1)))
    database.append(trial(1, success(9.0), task="other", name="mm", file="mm.c", time=LATER))
    (found,) = earlier(database)
    assert list(values(found)) == [1]
    assert database.earlier(OWN, 7, REGION, None, 100) == []


def test_of_a_configuration_the_newest_trial_counts(database):
    database.append(trial(1))
    database.begin(series(), START, fresh=True)
    database.append(trial(1, success(0.5)))
    (found,) = earlier(database)
    assert values(found) == {1: pytest.approx(0.5, rel=1e-3)}
