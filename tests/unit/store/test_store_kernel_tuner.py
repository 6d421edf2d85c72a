"""Files of other tools: T4 as its users write it, and cache files of Kernel Tuner."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from recorded import cache_document, failure_of, rows, t4_document, times_of
from trials import START

from orio_py.core.diagnostics import DiagnosticError
from orio_py.record.device import DEVICE_NAME
from orio_py.record.measurement import Failure, Stage, Success
from orio_py.record.trial import CounterSource
from orio_py.store.database import ResultsDatabase
from orio_py.store.imported import REPORTED, ImportedMeasurement
from orio_py.store.interchange import Format, format_of, read
from orio_py.store.kernel_tuner import STAGES

STAMP = datetime(2025, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def written(tmp_path, document, name="stencil_X1_T4.json", *, told=None):
    path = tmp_path / name
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read(path, format_of(path), START, *([] if told is None else [told]))


@pytest.mark.parametrize("name", ["stencil_X1_T4.json", "stencil_X1_T4.json.gz"])
def test_t4_has_every_row_with_its_times_in_seconds(tmp_path, name):
    trials = written(tmp_path, t4_document(), name)
    assert [dict(t.configuration) for t in trials] == rows()
    assert {t.name for t in trials} == {"stencil_X1"}
    assert len({(t.task, t.toolchain, t.environment) for t in trials}) == 1
    for trial, row in zip(trials, rows(), strict=True):
        assert trial.build == pytest.approx((100 + row["unroll"]) / 1e3)
        assert float(trial.metadata["orio:seconds:framework"]) == pytest.approx(2e-3)
        assert trial.time == STAMP
        bad = failure_of(row)
        if bad:
            assert isinstance(trial.measurement, Failure)
            assert trial.measurement.stage is {"compile": Stage.COMPILE, "runtime": Stage.CRASH}[bad]
            assert trial.objectives == {REPORTED: None}
            assert trial.run == pytest.approx(5e-3)
        else:
            assert [1e3 * s.wall for s in trial.measurement.samples] == pytest.approx(times_of(row))
            assert trial.objectives[REPORTED] == pytest.approx(sum(times_of(row)) / 3e3)
            assert trial.run == pytest.approx((5 + sum(times_of(row))) / 1e3)


def test_a_cache_file_says_the_same_and_knows_its_device(tmp_path):
    trials = written(tmp_path, cache_document(), "stencil_cache.json.gz")
    others = written(tmp_path, t4_document())
    assert {t.metadata[DEVICE_NAME] for t in trials} == {"Imaginary X1"}
    assert trials[0].name == "stencil"
    assert trials[0].inputs == {"problem_size_x": 512, "problem_size_y": 256}
    for trial, other in zip(trials, others, strict=True):
        assert trial.configuration == other.configuration
        assert trial.objectives == other.objectives
        assert trial.build == other.build
        assert trial.run == pytest.approx(other.run)
        if isinstance(trial.measurement, Success):
            assert trial.measurement == other.measurement
            assert [(c.name, c.value, c.source) for c in trial.counters] == [
                ("GFLOP/s", 7.5, CounterSource.REPORTED)
            ]
        else:
            assert trial.measurement.stage is other.measurement.stage


def test_the_same_kernel_on_two_devices_is_one_task(tmp_path):
    first, second = (written(tmp_path, cache_document(name), f"{name}.json")[0] for name in ("X1", "X2"))
    assert first.task == second.task
    assert first.environment != second.environment
    named = [
        written(tmp_path, t4_document(), f"{name}.json", told=ImportedMeasurement("stencil", name))[0]
        for name in ("X1", "X2")
    ]
    assert named[0].task == named[1].task
    assert [t.environment for t in named] == [first.environment, second.environment]


def test_an_interrupted_tool_leaves_a_file_that_can_be_read(tmp_path):
    text = json.dumps(cache_document(), indent=0)
    cut = text[: text.rindex('"256,4,4,0"')].rstrip()  # the last entries were never written
    assert cut.endswith(",")
    trials = written(tmp_path, cut, "cut.json")
    assert 0 < len(trials) < len(rows())


def test_failures_of_all_versions(tmp_path):
    document = cache_document()
    entries = list(document["cache"].values())
    for entry, word in zip(entries, STAGES, strict=False):
        entry["time"] = word
    entries[3]["time"] = 1e20
    entries[4]["__error__"] = "InvalidConfig"
    trials = written(tmp_path, document, "old.json")
    stages = [t.measurement.stage for t in trials[:5]]
    assert stages == [Stage.TRANSFORM, Stage.COMPILE, Stage.CRASH, Stage.CRASH, Stage.TRANSFORM]


def edited(**changes):
    document = cache_document()
    first = next(iter(document["cache"].values()))
    first.update(changes)
    for name in [name for name, value in changes.items() if value is ...]:
        del first[name]
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (edited(time="Slow"), "`time` is `Slow`"),
        (edited(time=...), "neither a number nor a failure"),
        (edited(tile=...), "no value of the parameter `tile`"),
        (edited(times=3), "`times` is not a list"),
        (edited(timestamp="yesterday"), "yesterday"),
        (edited(tile={"a": 1}), "not the value of a parameter"),
        ('{"cache": []}', "`cache` is not an object"),
        ('{"cache": {}}', "`tune_params_keys` is missing"),
        ('{"cache": {}, "tune_params_keys": [1]}', "`tune_params_keys` is not a list of names"),
        ('{"cache": {"1,2": ', "not JSON"),
        ('{"cache": {"1": 3}, "tune_params_keys": []}', "the entry is not an object"),
    ],
    ids=range(11),
)
def test_malformed_cache_files_are_told(tmp_path, text, hint):
    with pytest.raises(DiagnosticError) as caught:
        written(tmp_path, text, "bad.json")
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D007"
    assert str(problem.position).startswith(str(tmp_path / "bad.json"))
    assert hint in problem.message


def test_a_broken_archive_is_told(tmp_path):
    for name, content in (("a.json.gz", b"\x1f\x8b\x08junk"), ("b.json.gz", gzip.compress(b"{}" * 99)[:-9])):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DiagnosticError) as caught:
            read(tmp_path / name, format_of(tmp_path / name), START)
        assert caught.value.diagnostics[0].code == "ORIO-D007"


def test_importing_twice_doubles_nothing(tmp_path):
    trials = written(tmp_path, cache_document())
    with ResultsDatabase.open(tmp_path / "results.db") as database:
        assert database.append_all([*trials, trials[0]]) == len(trials)
        assert database.append_all(trials) == 0
        database.append(trials[0])
        assert database.history() == trials
        (series,) = database.overview()
    assert (series.trials, series.failed) == (len(trials), sum(failure_of(row) is not None for row in rows()))
    assert series.objective == REPORTED


def test_endings():
    assert format_of(Path("x.CSV.gz")) is Format.CSV
