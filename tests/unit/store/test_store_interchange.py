"""T4, CSV and Parquet: trials leave and come back; files of others and broken files."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from trials import START, failure, success, trial

from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.record.measurement import Clock, Failure, Stage
from orio_py.store import interchange
from orio_py.store.flat import OPTIONAL
from orio_py.store.interchange import Format, format_of, read, read_csv, write, write_csv
from orio_py.store.t4 import INVALIDITY, STAGES, read_t4, write_t4

SCHEMA = json.loads((Path(__file__).parents[2] / "support" / "t4_schema.json").read_text())
TRIALS = [
    trial(1),
    trial(2, replace(success(2e-3, repeats=1), is_full=False), build=None),
    *(trial(3 + k, failure(stage), counters=()) for k, stage in enumerate(Stage)),
    trial(40, task="other", metadata={}),
    trial(41, objectives={"instructions": 1e6 + 41, "time * energy": 0.021, "wall_time": 0.042}),
    trial(42, failure(), objectives={"instructions": None}),
]
ENDINGS = {Format.T4: ".json", Format.CSV: ".csv", Format.PARQUET: ".parquet"}

KERNEL_TUNER = {
    "schema_version": "1.0.0",
    "metadata": {"timeunit": "milliseconds"},
    "results": [
        {
            "configuration": {"block_size_x": 64, "flag": "-O3"},
            "objectives": ["time"],
            "times": {"compilation_time": 100.0, "runtimes": [2.0, 3.0, 1.0], "framework": 0.5},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}],
            "timestamp": "2026-01-02 03:04:05.678901+00:00",
        },
        {
            "configuration": {"block_size_x": 128},
            "times": {"runtimes": []},
            "invalidity": "compile",
            "correctness": 0,
        },
        {
            "configuration": {"block_size_x": 256},
            "times": {},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 4.0, "unit": "us"}],
        },
    ],
}


@pytest.mark.parametrize("form", list(ENDINGS))
def test_trials_come_back_exactly(tmp_path, form):
    path = tmp_path / f"trials{ENDINGS[form]}"
    write(TRIALS, form, path)
    assert read(path, format_of(path), START) == TRIALS


def test_t4_meets_the_schema_and_speaks_for_other_tools():
    document = json.loads(write_t4(TRIALS))
    jsonschema.validate(document, SCHEMA)
    first, second, *failed = document["results"][:-2]
    assert document["metadata"]["timeunit"] == "milliseconds"
    assert first["configuration"] == {
        "U": 1,
        "F": "-O3 -g",
        "T": [8, 2.5],
        "L": [1, "x"],
        "B": False,
        "R": 0.1,
    }
    assert first["times"]["runtimes"] == [1e3 * s.cpu for s in TRIALS[0].measurement.samples]
    assert first["times"]["compilation_time"] == 125.0
    assert "compilation_time" not in second["times"]
    assert first["measurements"][0] == {
        "name": "time",
        "value": 1e3 * TRIALS[0].measurement.timing.median_s,
        "unit": "ms",
    }
    assert [r["invalidity"] for r in failed[:-1]] == [INVALIDITY[stage] for stage in Stage]
    assert [r["correctness"] for r in failed[:-1]] == [float(stage is Stage.CHECKED) for stage in Stage]


def test_t4_names_the_objectives_with_their_values():
    first, *_, ranked, failed = json.loads(write_t4(TRIALS))["results"]
    assert first["objectives"] == ["time"]
    assert ranked["objectives"] == ["instructions", "time * energy", "wall_time"]
    values = [(m["name"], m["value"], m["unit"]) for m in ranked["measurements"]]
    assert values.count(("instructions", 1e6 + 41, "")) == 1  # the counter of that name has the value
    assert ("time * energy", 0.021, "") in values
    assert ("wall_time", 0.042, "s") in values
    assert set(ranked["objectives"]) <= {name for name, _, _ in values}
    assert failed["objectives"] == ["instructions"]


def test_files_of_earlier_versions_are_read():
    lines = list(csv.DictReader(io.StringIO(write_csv(TRIALS[:1]))))
    old = io.StringIO(newline="")
    names = [name for name in lines[0] if name not in OPTIONAL]
    writer = csv.DictWriter(old, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(lines)
    assert read_csv(old.getvalue(), "old.csv") == TRIALS[:1]
    document = json.loads(write_t4(TRIALS[:1]))
    for name in OPTIONAL:
        del document["results"][0]["orio"][name]
    assert read_t4(json.dumps(document), "old.json", START) == TRIALS[:1]


def test_the_schema_refuses_what_is_no_t4():
    document = json.loads(write_t4(TRIALS[:1]))
    document["results"][0]["invalidity"] = "slow"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_every_stage_has_a_word_and_every_word_a_stage():
    assert set(INVALIDITY) == set(Stage)
    assert set(INVALIDITY.values()) == set(STAGES)
    assert all(INVALIDITY[stage] == word for word, stage in STAGES.items())


def test_t4_of_another_tool():
    jsonschema.validate(KERNEL_TUNER, SCHEMA)
    first, second, third = read_t4(json.dumps(KERNEL_TUNER), "runs/gemm.json", START)
    assert first.configuration == {"block_size_x": 64, "flag": "-O3"}
    assert [s.wall for s in first.measurement.samples] == [0.002, 0.003, 0.001]
    assert first.measurement.clock is Clock.WALL
    assert (first.name, first.build, first.time) == ("gemm", 0.1, START)
    assert second.measurement == Failure(Stage.COMPILE, "reported as `compile`")
    assert third.measurement.timing.median_s == pytest.approx(4e-6)
    assert len({t.task for t in (first, second, third)}) == 1
    assert len({t.key for t in (first, second, third)}) == 3


def edited(**changes):
    document = json.loads(json.dumps(KERNEL_TUNER))
    document["results"][1].update(changes)
    document["results"][1] = {k: v for k, v in document["results"][1].items() if v is not ...}
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ('{"results": [\n  {,]}', "bad.json:2:4", "not JSON"),
        ("[]", "bad.json:1:1", "the file is not an object"),
        ("{}", "bad.json:1:1", "`results` is missing"),
        ('{"results": 3}', "bad.json:1:1", "`results` is not a list"),
        ('{"results": [], "metadata": {"timeunit": "weeks"}}', "bad.json:1:1", "weeks"),
        ('{"results": [1]}', "bad.json:1:1", "results[0]: the result is not an object"),
        (edited(configuration=...), "bad.json:1:1", "results[1]: `configuration` is missing"),
        (edited(configuration={"x": None}), "bad.json:1:1", "results[1]: None is not the value"),
        (edited(invalidity="slow"), "bad.json:1:1", "`slow`"),
        (edited(correctness="yes"), "bad.json:1:1", "`correctness`"),
        (edited(invalidity="correct"), "bad.json:1:1", "`times.runtimes`"),
        (edited(timestamp="yesterday"), "bad.json:1:1", "yesterday"),
        (edited(times=[]), "bad.json:1:1", "`times` is not an object"),
        (edited(orio={"task": "x"}), "bad.json:1:1", "column"),
        ("[" * 100_000, "bad.json:1:1", ""),
    ],
    ids=range(15),
)
def test_malformed_t4_is_told_with_its_place(tmp_path, text, place, hint):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(DiagnosticError) as caught:
        read(path, Format.T4, START)
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D007"
    assert str(problem.position).endswith(place)
    assert hint in problem.message


def test_csv_has_a_column_per_parameter(tmp_path):
    write(TRIALS[:2], Format.CSV, tmp_path / "trials.csv")
    with (tmp_path / "trials.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["param:U"], second["param:U"], first["param:F"]) == ("1", "2", "-O3 -g")
    assert float(first["median_s"]) == TRIALS[0].measurement.timing.median_s
    assert len(first["wall_s"].split()) == 5


@pytest.mark.parametrize(
    ("change", "line", "hint"),
    [
        (lambda text: "", 1, "columns `file`"),
        (lambda text: text.replace("median_s", "mean"), 1, "`median_s`"),
        (lambda text: text.replace("ok", "splendid", 1), 2, "splendid"),
        (lambda text: text.splitlines()[0] + "\nx,y\n", 2, "too short"),
        (lambda text: text.replace("2026-01-02", "2026-13-02", 1), 2, "month"),
        (lambda text: text.replace('""U"":1,', "", 1).replace('"{""F""', '"[""F""', 1), 2, ""),
    ],
    ids=range(6),
)
def test_malformed_csv_is_told_with_its_line(tmp_path, change, line, hint):
    path = tmp_path / "bad.csv"
    write(TRIALS[:2], Format.CSV, path)
    path.write_text(change(path.read_text()))
    with pytest.raises(DiagnosticError) as caught:
        read(path, Format.CSV, START)
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D007"
    assert problem.position.line == line
    assert hint in problem.message


def test_malformed_parquet_is_told(tmp_path):
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(DiagnosticError) as caught:
        read(path, Format.PARQUET, START)
    assert caught.value.diagnostics[0].code == "ORIO-D007"


def test_parquet_without_pyarrow_names_the_package(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(interchange, "import_module", missing)
    with pytest.raises(EnvironmentProblem) as caught:
        write(TRIALS, Format.PARQUET, tmp_path / "x.parquet")
    assert caught.value.diagnostics[0].code == "ORIO-D008"
    assert "orio-py[parquet]" in caught.value.diagnostics[0].help


def test_files_that_cannot_be_read_or_written(tmp_path):
    (tmp_path / "latin.csv").write_bytes(b"\xff\xfe\x00")
    cases = {
        "ORIO-U006": lambda: read(tmp_path / "none.csv", Format.CSV, START),
        "ORIO-U008": lambda: read(tmp_path, Format.CSV, START),
        "ORIO-D007": lambda: read(tmp_path / "latin.csv", Format.CSV, START),
        "ORIO-D010": lambda: read(tmp_path, Format.TAU, START),
        "ORIO-U009": lambda: write(TRIALS, Format.CSV, tmp_path / "no" / "x.csv"),
    }
    for code, act in cases.items():
        with pytest.raises(DiagnosticError) as caught:
            act()
        assert caught.value.diagnostics[0].code == code
    with pytest.raises(DiagnosticError) as caught:
        format_of(Path("trials.txt"))
    assert caught.value.diagnostics[0].code == "ORIO-D010"
