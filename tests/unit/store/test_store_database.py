"""The results database: what goes in comes out, once, and problems are told."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from trials import START, failure, series, success, trial

from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Stage
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.store.selection import Selection

HOST = {"host": "h", "process": 1, "time": START}

SAMPLES = success().samples
FINALS = (
    FinalEntry(True, Configuration({"U": 1}), (SAMPLES[:2], SAMPLES[2:]), (2.0, 3.0), flags="gcc -O2"),
    FinalEntry(False, Configuration({"U": 2, "T": (1, 2.5)}), (SAMPLES,), (1.0,), failed=failure()),
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ResultsDatabase]:
    with ResultsDatabase.open(tmp_path / "results.db") as opened:
        yield opened


def rows(path: Path, query: str) -> list[tuple]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "outcome", [success(), replace(success(), is_full=False), *(failure(stage) for stage in Stage)], ids=str
)
def test_a_trial_comes_back_as_it_was(database, outcome):
    stored = trial(3, outcome)
    assert database.append(stored) == stored
    assert database.history() == [stored]
    (found,) = database.find(series()).values()
    assert found == replace(stored, metadata={})


def test_types_of_values_survive(database):
    database.append(trial(1))
    values = database.history()[0].configuration
    assert (type(values["U"]), type(values["B"]), type(values["T"]), type(values["L"])) == (
        int,
        bool,
        tuple,
        list,
    )


def test_the_first_trial_of_a_key_counts(database):
    first = database.append(trial(1))
    assert database.append(trial(1, success(5.0))) == first
    assert len(database.history()) == 1


def test_what_came_of_a_trial_later_is_added(database):
    first = database.append(trial(1, success(), objectives={"wall_time": 1.0}))
    taken = first.measurement.samples
    longer = replace(success(), samples=(*taken, *success(2e-3).samples))
    amended = replace(first, measurement=longer, objectives={"wall_time": 0.5})
    assert database.amend(amended, taken, 1) == amended
    assert database.history() == [amended]
    assert database.overview()[0].best_seconds == longer.timing.median_s
    # Another process that knew the first samples only finds that it comes too late.
    assert database.amend(replace(first, measurement=failure()), taken, 1) == amended
    crashed = replace(amended, measurement=failure(), objectives={"wall_time": None})
    assert database.amend(crashed, longer.samples, 1) == crashed
    assert database.history() == [crashed]
    assert database.amend(amended, longer.samples, 1) == crashed
    assert database.amend(trial(2), taken, 1) == trial(2)  # deleted meanwhile: not stored again
    assert len(database.history()) == 1


def test_a_trial_can_be_ranked_by_another_objective_later(database):
    key = database.append(trial(1, objectives={"instructions": 5.0})).key
    for _ in range(2):
        database.add_objective(key, 1, "1 / instructions", 0.2)
    database.add_objective(replace(key, task="none"), 1, "1 / instructions", 0.2)
    assert database.history() == [trial(1, objectives={"instructions": 5.0, "1 / instructions": 0.2})]


def test_the_best_is_that_of_the_newest_runs_objective(database):
    values = {1: 9.0, 2: 3.0, 3: 6.0}
    database.append_all([trial(n, objectives={"instructions": v}) for n, v in values.items()])
    database.append(trial(4, failure(), objectives={"instructions": None}))
    (stored,) = database.overview()  # imported: no run tells the objective
    assert (stored.objective, stored.best_value) == ("instructions", 3.0)
    assert stored.best_seconds == trial(2).measurement.timing.median_s
    assert database.best(series()).configuration == trial(2).configuration
    database.start_run("p", series(), 1, **HOST, objective=None)
    assert database.best(series()).configuration == trial(1).configuration
    assert database.overview()[0].best_value is None
    database.start_run("q", series(), 1, **HOST, objective="instructions")
    database.start_run("q", series("lu"), 1, **HOST, objective="energy")
    assert database.best(series()).configuration == trial(2).configuration
    database.start_run("r", series(), 1, **HOST, objective="energy")
    assert database.best(series()) is None
    (stored,) = database.overview()
    assert (stored.objective, stored.best_value, stored.best_seconds) == ("energy", None, None)


def test_a_new_generation_keeps_the_old_one(database):
    assert database.begin(series(), START) == 1
    database.append(trial(1))
    assert database.begin(series(), START) == 1
    assert database.begin(series(), START, fresh=True) == 2
    assert database.begin(series(), START, fresh=True) == 2  # still empty
    anew = trial(1, success(5.0))
    assert database.append(anew, 2) == anew
    assert len(database.history()) == 2
    assert database.best(series()).measurement == anew.measurement
    assert [t.measurement for t in database.find(series()).values()] == [anew.measurement]
    (stored,) = database.overview()
    assert (stored.generation, stored.trials, stored.all_trials) == (2, 1, 2)


def test_overview_counts_and_best_is_the_fastest_valid(database):
    for number in (3, 1, 2):
        database.append(trial(number))
    database.append(trial(9, failure()))
    database.append(trial(4, task="lu"))
    lu, mm = database.overview()
    assert (lu.name, mm.name, mm.file) == ("lu", "mm", "src/mm.c")
    assert (mm.trials, mm.failed, mm.results) == (4, 1, 0)
    assert mm.best_seconds == trial(1).measurement.timing.median_s
    assert mm.inputs == {"N": 500, "alpha": 1.5}
    assert database.best(series()).configuration == trial(1).configuration
    assert database.best(series("nothing")) is None


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (Selection(), 3),
        (Selection(file="mm.c"), 2),
        (Selection(file="src/mm.c"), 2),
        (Selection(file="m.c"), 0),
        (Selection(file="%"), 0),
        (Selection(region="lu"), 1),
        (Selection(region="l_"), 0),
        (Selection(task=series("lu").task[:8]), 1),
        (Selection(task="_"), 0),
        (Selection(file="mm.c", region="lu"), 0),
        (Selection(toolchain=series().toolchain, environment=series().environment[:5]), 3),
    ],
    ids=str,
)
def test_selections(database, selection, count):
    for stored in (trial(1), trial(2), trial(1, task="lu")):
        database.append(stored)
    assert len(database.history(selection)) == count


def test_delete_removes_trials_with_their_details_and_results(database, tmp_path):
    database.append_all([trial(1, objectives={"energy": 1.0}), trial(2), trial(1, task="lu")])
    run = database.start_run("plan", series(), 1, **HOST)
    database.finish_run(run, START, {"version": 1}, FINALS)
    assert database.delete(Selection(file="mm.c")) == 2
    assert [t.name for t in database.history()] == ["lu"]
    assert database.results(series()) == []
    counts = {
        table: rows(tmp_path / "results.db", f"SELECT count(*) FROM {table}")[0][0]
        for table in (
            "trial",
            "sample",
            "primary_metadata",
            "counter",
            "generation",
            "tuning_run",
            "tuning_result",
            "objective",
            "finalist",
            "final_round",
            "final_sample",
        )
    }
    assert counts == {
        "trial": 1,
        "sample": 5,
        "primary_metadata": 3,
        "counter": 2,
        "generation": 1,
        "tuning_run": 0,
        "tuning_result": 0,
        "objective": 0,
        "finalist": 0,
        "final_round": 0,
        "final_sample": 0,
    }
    assert database.append(trial(1)) == trial(1)


def test_append_all_tells_how_many_are_new(database):
    assert database.append_all([trial(1), trial(2), trial(2)]) == 2
    assert database.append_all([trial(2), trial(3)]) == 1
    assert len(database.history()) == 3


def test_the_first_finished_run_of_a_plan_counts(database):
    first, second = (database.start_run("plan", series(), 1, **HOST) for _ in range(2))
    assert database.result("plan", 1) is None
    assert database.finish_run(first, START, {"best": 1}) == {"best": 1}
    assert database.finish_run(second, START, {"best": 2}) == {"best": 1}
    assert database.result("plan", 1) == {"best": 1}
    assert database.result("plan", 2) is None
    assert database.result("another", 1) is None


def test_finals_come_back_as_they_were(database):
    database.append_all([trial(1), trial(1, task="lu")])
    runs = [database.start_run(plan, series(), 1, **HOST, objective="energy") for plan in ("p", "p", "q")]
    other = database.start_run("p", series("lu"), 1, **HOST)
    database.start_run("unfinished", series(), 1, **HOST)
    # The finals of a run count even where another run of the plan has given the answer.
    for run in (*runs[:2], other):
        database.finish_run(run, START, {"run": run}, FINALS)
    database.finish_run(runs[2], START, {"run": 0})  # no finals
    found = database.finals(Selection(region="mm"))
    assert [(f.run, f.series, f.generation, f.objective) for f in found] == [
        (run, series(), 1, "energy") for run in runs[:2]
    ]
    assert [f.entries for f in found] == [FINALS, FINALS]
    assert [f.run for f in database.finals()] == [*runs[:2], other]


def test_a_run_without_report_leaves_no_result(database, tmp_path):
    run = database.start_run("plan", series(), 1, **HOST)
    assert database.finish_run(run, START, None) is None
    assert database.result("plan", 1) is None
    ((finished,),) = rows(tmp_path / "results.db", "SELECT finished FROM tuning_run")
    assert finished.startswith("2026-01-02T03:04:05")


def _append_many(path: str, barrier, count: int) -> None:
    barrier.wait(60)
    with ResultsDatabase.open(path) as database:
        for number in range(count):
            database.append(trial(number))


@pytest.mark.proof
def test_two_processes_never_double_a_trial(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    path = str(tmp_path / "both.db")
    writers = [context.Process(target=_append_many, args=(path, barrier, 60)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert rows(tmp_path / "both.db", "SELECT count(*), count(DISTINCT configuration) FROM trial") == [
        (60, 60)
    ]
    assert rows(tmp_path / "both.db", "SELECT count(*) FROM sample") == [(300,)]
    assert rows(tmp_path / "both.db", "SELECT count(*) FROM generation") == [(1,)]


# --- places that cannot be used ---


def test_another_kind_of_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"my notes, not a database, and long enough to look like one" * 20)
    before = path.read_bytes()
    with pytest.raises(DiagnosticError) as caught:
        ResultsDatabase.open(path)
    assert caught.value.diagnostics[0].code == "ORIO-D002"
    assert not isinstance(caught.value, EnvironmentProblem)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE songs (title TEXT)"],
        ["CREATE TABLE schema_version (version TEXT)"],
        [
            "CREATE TABLE schema_version (version INTEGER, description TEXT)",
            "INSERT INTO schema_version VALUES (2, 'x')",
        ],
    ],
    ids=["songs", "other columns", "other description"],
)
def test_another_programs_database_is_refused_and_left_alone(tmp_path, statements):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DiagnosticError) as caught:
        ResultsDatabase.open(path)
    assert caught.value.diagnostics[0].code == "ORIO-D002"
    assert path.read_bytes() == before


def test_a_damaged_database_is_told_of(tmp_path):
    path = tmp_path / "results.db"
    with ResultsDatabase.open(path) as database:
        database.append_all([trial(number) for number in range(50)])
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(DiagnosticError) as caught, ResultsDatabase.open(path) as database:
        database.history()
    assert caught.value.diagnostics[0].code == "ORIO-D002"
    assert path.read_bytes() == content


def test_places_without_a_database(tmp_path):
    (tmp_path / "file").write_text("")
    cases = {
        "ORIO-D001": [tmp_path / "file" / "results.db", tmp_path],
        "ORIO-D005": ["", "http://example.org/x", "://", "postgresql://host:port/x"],
    }
    for code, places in cases.items():
        for place in places:
            with pytest.raises(DiagnosticError) as caught:
                ResultsDatabase.open(place)
            assert caught.value.diagnostics[0].code == code, place
            assert isinstance(caught.value, EnvironmentProblem) == (code == "ORIO-D001")
    with pytest.raises(DiagnosticError) as caught:
        ResultsDatabase.open(tmp_path / "none.db", create=False)
    assert caught.value.diagnostics[0].code == "ORIO-D006"
    assert not (tmp_path / "none.db").exists()


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setattr("orio_py.store.engine.find_spec", lambda name: None)
    with pytest.raises(EnvironmentProblem) as caught:
        ResultsDatabase.open("postgresql://localhost/orio")
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D004"
    assert "psycopg" in problem.message


def test_folders_on_the_way_are_made(tmp_path):
    with ResultsDatabase.open(tmp_path / "a" / "b" / "results.db") as database:
        assert database.overview() == []
